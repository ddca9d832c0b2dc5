import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, test } from "vitest";
import { abortable, onAbort } from "../../../lambdas/job/runtime/on-abort.ts";

test("every callback gets the reason, once", () => {
  const abort = new AbortController();
  const called: string[] = [];
  for (const name of ["a", "b"]) onAbort(abort.signal, (reason) => called.push(`${name} ${reason}`));

  abort.abort("stop");
  abort.abort("again");

  expect(called).toEqual(["a stop", "b stop"]);
});

test("a callback that was ended, perhaps twice, is not called, also by one before it; all others are", () => {
  const abort = new AbortController();
  const called: string[] = [];
  let end = (): void => undefined;
  const endFirst = onAbort(abort.signal, () => {
    endFirst();
    end();
    end();
  });
  end = onAbort(abort.signal, () => called.push("second"));
  for (const name of ["third", "fourth"]) onAbort(abort.signal, () => called.push(name));

  abort.abort();

  expect(called).toEqual(["third", "fourth"]);
});

test("a signal whose callbacks all ended takes new ones, and an old end ends none of them", () => {
  const abort = new AbortController();
  const called: string[] = [];
  const end = onAbort(abort.signal, () => called.push("old"));
  end();
  onAbort(abort.signal, () => called.push("new"));
  end();

  abort.abort();

  expect(called).toEqual(["new"]);
});

test("a thousand callbacks are one listener of the signal, and none are none", () => {
  const abort = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = abort.signal;
  abort.signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(abort.signal, args);
  };
  abort.signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(abort.signal, args);
  };

  const ends = Array.from({ length: 1_000 }, () => onAbort(abort.signal, () => undefined));
  const whileOpen = listeners;
  for (const end of ends) end();

  expect([whileOpen, listeners]).toEqual([1, 0]);
});

test("what ended is garbage at once, and not only to a full collection", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { signal } = new AbortController();
  const open: (() => void)[] = [];
  const come = (): void => {
    const weight = Array.from({ length: 1_000 }, () => 0);
    open.push(onAbort(signal, () => weight));
  };
  const serve = (requests: number): void => {
    for (let n = 0; n < requests; n += 1) {
      come();
      if (open.length > 32) open.shift()?.();
      if (n % 32 === 0) collect({ type: "minor" });
    }
  };
  serve(100);
  collect();
  const before = process.memoryUsage().heapUsed;

  serve(2_000);

  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
});

const never = (): Promise<never> => Promise.withResolvers<never>().promise;

describe("waiting that can be aborted", () => {
  it("has the promise's outcome", async () => {
    const { signal } = new AbortController();

    await expect(abortable(Promise.resolve(7), signal)).resolves.toBe(7);
    await expect(abortable(Promise.reject(new Error("failed")), signal)).rejects.toThrow("failed");
    await expect(abortable(Promise.resolve(7), undefined)).resolves.toBe(7);
  });

  it("ends with the signal's reason", async () => {
    const abort = new AbortController();
    const waiting = abortable(never(), abort.signal);

    abort.abort(new Error("stop"));

    await expect(waiting).rejects.toThrow("stop");
    await expect(abortable(never(), abort.signal)).rejects.toThrow("stop");
  });
});
