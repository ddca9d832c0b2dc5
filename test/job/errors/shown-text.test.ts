import { expect, it } from "vitest";
import { redactKey, shownText } from "../../../lambdas/job/errors/shown-text.ts";

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

it.each([
  ["name", "name"],
  ["_grossAmount-2", "_grossAmount-2"],
  ["$ref", "$ref"],
  ["a".repeat(40), "a".repeat(40)],
  ["a".repeat(41), "<key>"],
  ["you@example.com", "<key>"],
  ["two words", "<key>"],
  ["2026", "<key>"],
  ["", "<key>"],
  ["1c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6", "<uuid>"],
])("%j is shown as %s", (key, shown) => {
  expect(redactKey(key)).toBe(shown);
});
