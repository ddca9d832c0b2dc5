import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compact, MalformedJson, rootSpan, valueAt } from "../../../lambdas/job/json/json-scanner.ts";
import { jsonText } from "./json-texts.ts";

describe("for any JSON text", () => {
  it("compact takes away the white space between tokens and nothing else", () => {
    fc.assert(
      fc.property(jsonText, ({ loose, tight }) => {
        expect(compact(` ${loose}\n`)).toBe(tight);
        expect(compact(tight)).toBe(tight);
        expect(isDeepStrictEqual(JSON.parse(tight), JSON.parse(loose))).toBe(true);
      }),
    );
  });

  it("valueAt finds at every pointer what JSON.parse has there, and nothing beside", () => {
    fc.assert(
      fc.property(jsonText, ({ loose }) => {
        for (const [path, value] of everything(JSON.parse(loose))) {
          const span = valueAt(loose, path);
          expect(span && isDeepStrictEqual(JSON.parse(loose.slice(span.start, span.end)), value)).toBe(true);
          expect(valueAt(loose, [...path, "none such"])).toBeUndefined();
        }
      }),
    );
  });
});

describe("for any row of tokens", () => {
  const token = fc.constantFrom("[", "]", "{", "}", ",", ":", '"a"', '"]"', "1", "null");
  const tokens = fc.oneof(
    fc.array(token, { maxLength: 8 }),
    // A text that is JSON but for one token that is deleted, inserted or replaced.
    fc
      .tuple(jsonText, fc.nat(), fc.nat({ max: 1 }), fc.array(token, { maxLength: 1 }))
      .map(([{ tight }, place, taken, put]) => {
        const right = tight.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"]+/g) ?? [];
        return right.toSpliced(place % (right.length + 1), taken, ...put);
      }),
  );

  it("rootSpan accepts exactly what JSON.parse accepts", () => {
    fc.assert(
      fc.property(tokens, (row) => {
        const text = row.join(" "); // apart, because only JSON.parse looks inside literals

        expect(accepts(rootSpan, text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });

  it("compact makes JSON of JSON alone", () => {
    fc.assert(
      fc.property(tokens, (row) => {
        const text = row.join(" ");

        expect(accepts((each) => JSON.parse(compact(each)), text)).toBe(accepts(JSON.parse, text));
      }),
      { numRuns: 2_000 },
    );
  });
});

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof MalformedJson || error instanceof SyntaxError) return false;
    throw error;
  }
}

function* everything(value: unknown, path: readonly string[] = []): Generator<[readonly string[], unknown]> {
  yield [path, value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) yield* everything(child, [...path, key]);
}
