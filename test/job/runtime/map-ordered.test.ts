import { getEventListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { mapOrdered, type OrderedOptions, type Waits } from "../../../lambdas/job/runtime/map-ordered.ts";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";

const options = {
  concurrency: 3,
  ahead: 8,
  maxWeight: 1_000,
  weigh: () => 1,
  signal: new AbortController().signal,
};

/** How many of 50 items are begun while the first one takes long. All are yielded in the end. */
async function begunBehindTheFirst(bounds: OrderedOptions<number>): Promise<number> {
  const first = Promise.withResolvers<number>();
  let begun = 0;
  const work = (item: number): Promise<number> => {
    begun += 1;
    return item === 0 ? first.promise : Promise.resolve(item);
  };
  const results = mapOrdered(Array(50).keys(), work, bounds);
  const taken = results.next();
  await delay(5);
  const begunBehind = begun;
  first.resolve(0);
  expect((await taken).value).toBe(0);
  expect((await Array.fromAsync(results)).length).toBe(49);
  return begunBehind;
}

describe("mapOrdered", () => {
  test("yields every result once, in the order of the items, whatever order they finish in", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(3), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 9 }),
        async (delays, concurrency, ahead) => {
          const items = delays.map((ms, index) => ({ ms, index }));
          const work = async ({ ms, index }: { ms: number; index: number }): Promise<number> => {
            if (ms > 0) await delay(ms);
            return index;
          };

          const results = await Array.fromAsync(mapOrdered(items, work, { ...options, concurrency, ahead }));

          expect(results).toEqual(items.map(({ index }) => index));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("works on no more than N items at once, and on N while there is work", async () => {
    let running = 0;
    const most: number[] = [];
    const work = async (item: number): Promise<number> => {
      running += 1;
      most.push(running);
      await delay(2);
      running -= 1;
      return item;
    };

    await Array.fromAsync(mapOrdered([1, 2, 3, 4, 5, 6, 7, 8, 9], work, options));

    expect(Math.max(...most)).toBe(3);
    expect(most.filter((n) => n === 3).length).toBeGreaterThanOrEqual(6);
  });

  test("keeps working while the consumer is busy, up to the bound", async () => {
    const begun: number[] = [];
    const results = mapOrdered(
      Array.from({ length: 50 }, (_, i) => i),
      async (item) => {
        begun.push(item);
        return item;
      },
      options,
    );

    await results.next();
    await delay(5);

    expect(begun.length).toBe(9);
    await results.return();
  });

  test("keeps working while an item takes longer than those after it, whatever the bound for the consumer", async () => {
    expect(await begunBehindTheFirst(options)).toBe(50);
  });

  test("lets no more wait than the bounds say, whatever takes how long", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.nat(3), weight: fc.integer({ min: 1, max: 9 }) }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 6, max: 9 }),
        fc.integer({ min: 1, max: 40 }),
        async (items, concurrency, ahead, maxWeight) => {
          const finished = new Set<number>();
          let taken = 0;
          const waiting = (): readonly number[] => [...finished].filter((index) => index >= taken);
          const weight = (): number => waiting().reduce((sum, index) => sum + (items[index]?.weight ?? 0), 0);
          let heaviest = 0;
          const work = async (index: number): Promise<number> => {
            heaviest = Math.max(heaviest, weight());
            const ms = items[index]?.ms ?? 0;
            if (ms > 0) await delay(ms);
            finished.add(index);
            return index;
          };
          const weigh = (index: number): number => items[index]?.weight ?? 0;
          const bounds = { ...options, concurrency, ahead, maxWeight, weigh };

          for await (const _ of mapOrdered(items.keys(), work, bounds)) {
            taken += 1;
            if (taken % 7 === 0) await delay(1);
          }

          expect(taken).toBe(items.length);
          expect(heaviest).toBeLessThan(maxWeight + concurrency * 9);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("starts nothing new while finished results weigh too much", async () => {
    const bounds = { ...options, ahead: 40, maxWeight: 100, weigh: () => 25 };

    expect(await begunBehindTheFirst(bounds)).toBeLessThanOrEqual(7);
  });

  test("throws the first failure as it came, aborts the others and waits for them", async () => {
    const failure = new Error("no");
    let aborted = 0;
    const work = async (item: number, signal: AbortSignal): Promise<number> => {
      if (item === 1) throw failure;
      await delay(10_000, undefined, { signal }).catch(() => {
        aborted += 1;
      });
      return item;
    };

    const collected = Array.fromAsync(mapOrdered([0, 1, 2], work, options));

    await expect(collected).rejects.toBe(failure);
    expect(aborted).toBe(2);
  });

  test("ends with the signal's reason when it aborts, before and during the work", async () => {
    const reason = new Error("stop");
    const late = new AbortController();
    const work = (_: number, signal: AbortSignal): Promise<number> => delay(10_000, 1, { signal });

    const before = Array.fromAsync(mapOrdered([1], work, { ...options, signal: AbortSignal.abort(reason) }));
    const during = Array.fromAsync(mapOrdered([1, 2], work, { ...options, signal: late.signal }));
    late.abort(reason);

    await expect(before).rejects.toBe(reason);
    await expect(during).rejects.toBe(reason);
  });

  test("tells the work why the signal aborted, and nothing of a failure of other work", async () => {
    const reasons: unknown[] = [];
    const late = new AbortController();
    const work = (item: number, signal: AbortSignal): Promise<number> => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return item < 0 ? Promise.reject(new Error("no")) : delay(10_000, 1, { signal });
    };

    const aborted = Array.fromAsync(mapOrdered([1], work, { ...options, signal: late.signal }));
    late.abort("the lease is lost");
    await Promise.allSettled([aborted, Array.fromAsync(mapOrdered([1, -1], work, options))]);

    expect(reasons.slice(0, 1)).toEqual(["the lease is lost"]);
    expect(reasons.slice(1)).toEqual([1, 2].map(() => expect.objectContaining({ name: "AbortError" })));
  });

  test("aborts what is under way when the consumer stops early", async () => {
    let aborted = 0;
    const work = async (item: number, signal: AbortSignal): Promise<number> => {
      if (item > 0) {
        await delay(10_000, undefined, { signal }).catch(() => {
          aborted += 1;
        });
      }
      return item;
    };
    const results = mapOrdered([0, 1, 2], work, options);

    await results.next();
    await results.return();

    expect(aborted).toBe(2);
  });

  test("gives the results before a failed item that are finished, and then throws", async () => {
    const failure = new Error("no");
    const work = async (item: number): Promise<number> => {
      await delay(item === 2 ? 8 : 1);
      if (item === 2) throw failure;
      return item;
    };
    const results = mapOrdered([0, 1, 2, 3], work, options);
    const first = await results.next();
    await delay(20);

    expect([first.value, (await results.next()).value]).toEqual([0, 1]);
    await expect(results.next()).rejects.toBe(failure);
  });

  test("begins nothing after a failure, and aborts what is under way before the consumer asks for more", async () => {
    const begun: number[] = [];
    const aborted: number[] = [];
    const work = async (item: number, signal: AbortSignal): Promise<number> => {
      begun.push(item);
      if (item === 1) await delay(2);
      if (item === 1) throw new Error("no");
      if (item > 1) await delay(10_000, undefined, { signal }).catch(() => aborted.push(item));
      return item;
    };
    const results = mapOrdered(Array(9).keys(), work, options);
    await results.next();
    await delay(20);

    expect([begun, aborted]).toEqual([
      [0, 1, 2, 3],
      [2, 3],
    ]);
    await expect(results.next()).rejects.toThrow("no");
  });

  test("begins nothing after the consumer has stopped, and leaves no listener at the signal", async () => {
    const { signal } = new AbortController();
    const begun: number[] = [];
    const work = async (item: number): Promise<number> => {
      begun.push(item);
      return delay(1, item);
    };
    const results = mapOrdered(Array(9).keys(), work, { ...options, signal });
    await results.next();
    const before = begun.length;

    await results.return();

    expect(begun).toHaveLength(before);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("throws what the items throw, also in the middle of the work", async () => {
    const failure = new Error("no more");
    function* items(): Generator<number> {
      yield* [0, 1, 2, 3];
      throw failure;
    }

    const collected = Array.fromAsync(mapOrdered(items(), async (item) => delay(1, item), options));

    await expect(collected).rejects.toBe(failure);
  });
});

describe("an item that waits", () => {
  /** Of the items that wait: lets each go on. */
  let goOn: Map<number, () => void>;
  /** What was begun, and what went on after it had waited, in order. */
  let order: string[];

  beforeEach(() => {
    goOn = new Map();
    order = [];
  });

  const { maxWeight: _, ...unweighed } = options;
  const oneAtOnce = { ...unweighed, concurrency: 1 };

  /** Items of `waiting` wait in this way; all others take a while. */
  const working =
    (waiting: readonly number[], way: keyof Waits = "during") =>
    async (item: number, signal: AbortSignal, waits: Waits): Promise<number> => {
      order.push(`${item}`);
      if (waiting.includes(item)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        goOn.set(item, resolve);
        await waits[way](abortable(promise, signal));
        order.push(`${item} again`);
      }
      return delay(1, item, { signal });
    };

  test("does not count among the N at once: all others are worked on, and it holds back their results", async () => {
    const results = mapOrdered(Array(20).keys(), working([0, 4]), oneAtOnce);
    const first = results.next();

    await expect.poll(() => order.length).toBe(20);
    goOn.get(4)?.();
    goOn.get(0)?.();

    expect((await first).value).toBe(0);
    expect(await Array.fromAsync(results)).toEqual(Array.from({ length: 19 }, (_, n) => n + 1));
  });

  test("goes on at once, and nothing is begun in its place", async () => {
    const busy = Promise.withResolvers<void>();
    const work = async (item: number, signal: AbortSignal, waits: Waits): Promise<number> => {
      const result = await working([0])(item, signal, waits);
      if (item < 2) await busy.promise;
      return result;
    };
    const results = Array.fromAsync(mapOrdered(Array(4).keys(), work, oneAtOnce));

    await expect.poll(() => order).toEqual(["0", "1"]);
    goOn.get(0)?.();
    await expect.poll(() => order).toEqual(["0", "1", "0 again"]);
    busy.resolve();

    expect(await results).toEqual([0, 1, 2, 3]);
  });

  test("weighs itself: when too many wait, nothing new is begun", async () => {
    const all = [...Array(10).keys()];
    const bounds = { ...options, weigh: () => 0, maxWeight: 5 * 2_048 };
    const results = Array.fromAsync(mapOrdered(all, working(all), bounds));

    await delay(20);
    expect(order).toEqual(["0", "1", "2", "3", "4"]);
    for (const n of all) {
      await expect.poll(() => goOn.has(n)).toBe(true);
      goOn.get(n)?.();
    }

    expect(await results).toEqual(all);
  });

  test.each([
    ["nothing else is left", { ...options, weigh: () => 0, maxWeight: 1_000_000 }, 4],
    ["no other may be begun", { ...options, weigh: () => 0, maxWeight: 2 * 2_048 }, 2],
  ])("for others goes on where none of them can bring it about, because %s", async (_, bounds, begun) => {
    const all = [0, 1, 2, 3];
    const results = Array.fromAsync(mapOrdered(all, working(all, "forOthers"), bounds));

    expect(await results).toEqual(all);
    expect(order.indexOf("0 again")).toBe(begun);
  });

  test("for others goes on waiting while a result can be taken, which makes room for another", async () => {
    const bounds = { ...options, concurrency: 1, weigh: () => 5_000, maxWeight: 7_000 };
    const results = mapOrdered([0, 1, 2, 3], working([2], "forOthers"), bounds);

    const first = await results.next();
    await delay(20);
    expect(order).toEqual(["0", "1", "2"]);

    expect([first.value, ...(await Array.fromAsync(results))]).toEqual([0, 1, 2, 3]);
    expect(order).toEqual(["0", "1", "2", "3", "2 again"]);
  });

  test("for others goes on waiting while another one waits for what comes by itself", async () => {
    const work = (item: number, signal: AbortSignal, waits: Waits): Promise<number> =>
      working([0, 1], item === 0 ? "forOthers" : "during")(item, signal, waits);
    const results = Array.fromAsync(mapOrdered([0, 1], work, unweighed));

    await expect.poll(() => goOn.has(1)).toBe(true);
    await delay(5);
    expect(order).toEqual(["0", "1"]);
    goOn.get(1)?.();

    expect(await results).toEqual([0, 1]);
    expect(order.at(-1)).toBe("0 again");
  });

  test.each([
    ["the signal aborts", (stop: AbortController) => stop.abort(new Error("stop")), "stop"],
    ["another item fails", (_: AbortController, fail: () => void) => fail(), "no"],
  ])("ends at once when %s", async (_, end, message) => {
    const stop = new AbortController();
    const failing = Promise.withResolvers<number>();
    const work = async (item: number, signal: AbortSignal, waits: Waits): Promise<number> =>
      item === 2
        ? abortable(failing.promise, signal)
        : working([0, 1], item === 0 ? "during" : "forOthers")(item, signal, waits);
    const bounds = { ...oneAtOnce, signal: stop.signal };
    const results = Array.fromAsync(mapOrdered(Array(9).keys(), work, bounds));
    await expect.poll(() => goOn.size).toBe(2);
    await delay(2);

    end(stop, () => failing.reject(new Error("no")));

    await expect(results).rejects.toThrow(message);
  });

  test("ends when the consumer stops early", async () => {
    const results = mapOrdered(Array(9).keys(), working([1, 2]), oneAtOnce);
    await results.next();

    await results.return();

    expect(order).not.toContain("1 again");
  });
});
