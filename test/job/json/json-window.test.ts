import { describe, expect, it } from "vitest";
import { JsonWindow, MalformedUtf8 } from "../../../lambdas/job/json/json-document.ts";

const windowOf = (...pieces: readonly (string | readonly number[])[]): JsonWindow => {
  const window = new JsonWindow();
  for (const piece of pieces) window.add(Buffer.from(typeof piece === "string" ? piece : [...piece]));
  return window;
};
const textOf = (window: JsonWindow, isLast: boolean): string => window.view(isLast).bytes.toString();

describe("the window on a text that arrives", () => {
  it("shows what has arrived and is not released", () => {
    const window = windowOf("[1,", "2,3");
    window.release(3);

    expect(textOf(window, false)).toBe("2,3");
    expect(window.length).toBe(3);
  });

  it("keeps its bytes when it grows and when it moves them", () => {
    const window = windowOf("a".repeat(16_000));
    window.release(15_999);
    for (let n = 0; n < 40_000; n += 1) window.add(Buffer.from("b"));

    expect(textOf(window, true)).toBe(`a${"b".repeat(40_000)}`);
  });

  it.each(["é", "ж", "€", "👍"])("waits for the rest of %s", (character) => {
    const bytes = [...Buffer.from(character)];
    for (let cut = 1; cut < bytes.length; cut += 1) {
      const window = windowOf("x", bytes.slice(0, cut));

      expect(textOf(window, false)).toBe("x");
      expect(() => window.view(true)).toThrow(MalformedUtf8);
      window.add(Buffer.from(bytes.slice(cut)));
      expect(textOf(window, true)).toBe(`x${character}`);
    }
  });

  it.each([
    ["a byte that continues nothing", [0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["an overlong form", [0xc0, 0xaf]],
    ["a character that breaks off inside", [0xe2, 0x82, 0x61]],
    ["what no character begins with", [0xff, 0x61]],
  ])("refuses %s", (_, bytes) => {
    expect(() => windowOf("x", bytes, "y").view(false)).toThrow(MalformedUtf8);
  });
});
