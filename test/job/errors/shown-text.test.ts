import { expect, it } from "vitest";
import { shownText } from "../../../lambdas/job/errors/shown-text.ts";

it.each([
  ["plain text", '"plain text"'],
  ['with "quotes"\n', '"with \\"quotes\\"\\n"'],
  ["https://api.example.com/v1", '"https://api.example.com/v1"'],
  ["https://user:secret@api.example.com/v1", '"https://…@api.example.com/v1"'],
  ["https://user:p@ss@api.example.com", '"https://…@api.example.com"'],
  ["see //a:b@c and //d:e@f", '"see //…@c and //…@f"'],
  ["you@example.com", '"you@example.com"'],
])("%j is shown as %s", (text, shown) => {
  expect(shownText(text)).toBe(shown);
});
