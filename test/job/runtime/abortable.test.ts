import { describe, expect, it } from "vitest";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";

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
