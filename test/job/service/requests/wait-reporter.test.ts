import { describe, expect, it } from "vitest";
import { type Wait, WaitReporter } from "../../../../lambdas/job/service/requests/sender.ts";

const setUp = () => {
  const shown: (Wait | undefined)[] = [];
  return { waits: new WaitReporter((wait) => shown.push(wait)), shown };
};

describe("the reason for waiting", () => {
  it("is shown when a wait begins, and removed when none is left", async () => {
    const { waits, shown } = setUp();

    await waits.during(
      "budget",
      () => 5_000,
      async () => undefined,
    );

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is nothing while a request is under way", async () => {
    const { waits, shown } = setUp();

    waits.requestBegins();
    await waits.during(
      "retry",
      () => 5_000,
      async () => undefined,
    );
    waits.requestEnds();

    expect(shown).toEqual([]);
  });

  it("is shown when the last request that was under way is answered", async () => {
    const { waits, shown } = setUp();
    const waited = Promise.withResolvers<void>();

    waits.requestBegins();
    const wait = waits.during(
      "budget",
      () => 5_000,
      () => waited.promise,
    );
    expect(shown).toEqual([]);
    waits.requestEnds();
    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }]);
    waited.resolve();
    await wait;

    expect(shown).toEqual([{ kind: "budget", untilMs: 5_000 }, undefined]);
  });

  it("is the service's request before the budget before a retry, and of one kind the first to end", async () => {
    const { waits, shown } = setUp();
    const nested = (): Promise<void> =>
      waits.during(
        "retry",
        () => 1,
        () =>
          waits.during(
            "budget",
            () => 2,
            () =>
              waits.during(
                "retry-after",
                () => 9,
                () =>
                  waits.during(
                    "retry-after",
                    () => 8,
                    async () => undefined,
                  ),
              ),
          ),
      );

    await nested();

    expect(shown).toEqual([
      { kind: "retry", untilMs: 1 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "retry-after", untilMs: 8 },
      { kind: "retry-after", untilMs: 9 },
      { kind: "budget", untilMs: 2 },
      { kind: "retry", untilMs: 1 },
      undefined,
    ]);
  });

  it("is taken back when the wait fails", async () => {
    const { waits, shown } = setUp();

    await expect(
      waits.during(
        "retry",
        () => 1,
        () => Promise.reject(new Error("stop")),
      ),
    ).rejects.toThrow("stop");

    expect(shown).toEqual([{ kind: "retry", untilMs: 1 }, undefined]);
  });
});
