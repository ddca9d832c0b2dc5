// The encodings that editors and shells save text in: only UTF-8 is text.

import { expect, test } from "vitest";
import { utf8Text } from "../../../lambdas/job/errors/shown-text.ts";

test.each([
  ["UTF-8", Buffer.from("Zürich")],
  ["UTF-8 with a byte order mark", Buffer.from("\uFEFFZürich")],
])("%s is text, without its mark", (_, bytes) => {
  expect(utf8Text(bytes)).toBe("Zürich");
});

test.each([
  ["Latin-1", Buffer.from("Zürich", "latin1")],
  ["UTF-16 with a byte order mark", Buffer.from("\uFEFFZürich", "utf16le")],
  ["UTF-16 without one", Buffer.from("Zurich", "utf16le")],
])("%s is none", (_, bytes) => {
  expect(utf8Text(bytes)).toBeUndefined();
});
