import fc from "fast-check";
import { expect, test } from "vitest";
import { OrderedResults } from "../../../../lambdas/job/run/collect/ordered-results.ts";

test("results can be taken in the order of their places, as far as none is missing", () => {
  const results = new OrderedResults<string>();
  const [a, b, c] = [results.begin(), results.begin(), results.begin()];

  results.finish(b, "b", 20);
  const none = results.take();
  const before = { length: results.length, ready: results.ready, weight: results.weight };
  results.finish(a, "a", 1);
  const two = results.ready;
  const taken = [results.take(), results.take(), results.take()].map((result) => result?.value);
  results.finish(c, "c", 300);

  expect(none).toBeUndefined();
  expect(before).toEqual({ length: 3, ready: 0, weight: 20 });
  expect(two).toBe(2);
  expect(taken).toEqual(["a", "b", undefined]);
  expect(results).toMatchObject({ length: 1, ready: 1, weight: 300 });
  expect(results.rest()).toEqual(["c"]);
});

test("a value that is undefined is a result like any other", () => {
  const results = new OrderedResults<undefined>();

  results.finish(results.begin(), undefined, 1);

  expect(results.ready).toBe(1);
  expect(results.take()).toMatchObject({ value: undefined });
});

test("length, ready, weight and the rest are those of a plain list, over thousands of results", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(2), { minLength: 2_000, maxLength: 6_000 }), fc.nat(), (steps, seed) => {
      const results = new OrderedResults<number>();
      const places: number[] = [];
      const there = new Map<number, number>();
      let taken = 0;
      for (const [at, step] of steps.entries()) {
        if (step === 0 || places.length === 0) places.push(results.begin());
        const open = [...places.keys()].slice(taken, taken + 5).filter((index) => !there.has(index));
        const index = open[(seed + at) % Math.max(1, open.length)];
        if (step === 1 && index !== undefined) {
          there.set(index, at % 10);
          results.finish(places[index] ?? -1, index, at % 10);
        }
        if (step === 2) {
          const result = results.take();
          expect(result?.value).toBe(there.has(taken) ? taken : undefined);
          if (result) taken += 1;
        }
      }

      const waiting = [...there].filter(([index]) => index >= taken).toSorted(([a], [b]) => a - b);
      let ready = 0;
      while (there.has(taken + ready)) ready += 1;
      expect(results.length).toBe(places.length - taken);
      expect(results.ready).toBe(ready);
      expect(results.weight).toBe(waiting.reduce((sum, [, weight]) => sum + weight, 0));
      expect(results.rest()).toEqual(waiting.map(([index]) => index));
    }),
    { numRuns: 10 },
  );
});
