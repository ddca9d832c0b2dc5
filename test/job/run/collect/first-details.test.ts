// The first details are requested while the plan is written. That shows in when requests are sent, never in what is staged.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, it } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { FirstDetails } from "../../../../lambdas/job/run/collect/first-details.ts";
import type { CountingService, RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import type { Detail, ListedEvent } from "../../../../lambdas/job/service/event-service.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { interposed } from "../interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../small-world.ts";

const RUN = "2026-06-01T06-00-00.000Z";
const PLAN = layout.plan(ACCOUNT, RUN);
const full = new SyncError("STORE_FAILED", "the disk is full");
const refused = new SyncError("SERVICE_UNAVAILABLE", "no answer");

describe("a run", () => {
  let world: SmallWorld;

  beforeEach(() => {
    world = new SmallWorld({ concurrency: 4, shardSize: 4 });
    world.show(20);
  });

  /** Stops before the plan until all that can be requested is, and tells what was. */
  function whilePlanned(asked: string[], then: () => Promise<void> = async () => undefined): Store {
    return interposed(world.store, async (key) => {
      if (key !== PLAN) return;
      await new Promise((resolve) => setImmediate(resolve));
      asked.push("plan");
      await then();
    });
  }

  function watched(asked: string[], detail?: CountingService["detail"]): RunPorts["openService"] {
    return async (rateLimiter) => {
      const service = await world.ports().openService(rateLimiter);
      return {
        ...service,
        detail: (requestAs, signal) => {
          asked.push(requestAs);
          return (detail ?? service.detail)(requestAs, signal);
        },
      };
    };
  }

  it("requests as many details as it may at once before its plan is written, and each one once", async () => {
    const asked: string[] = [];

    const { row } = await world.run(
      { runId: RUN },
      { store: whilePlanned(asked), openService: watched(asked) },
    );

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
    expect(asked.indexOf("plan")).toBe(4);
    expect(asked.toSpliced(4, 1)).toEqual([...world.truth().keys()]);
    expect(await world.seen()).toEqual(world.truth());
  });

  it("requests none before its plan where its process has a time limit and may stop there", async () => {
    const asked: string[] = [];
    const ports = { store: whilePlanned(asked), openService: watched(asked), timeLeftMs: () => 1_000_000 };

    await world.run({ runId: RUN }, ports);

    expect(asked.indexOf("plan")).toBe(0);
  });

  it("says how long it takes as if none was requested yet", async () => {
    world.settings = { ...world.settings, requestsPerMinute: 20, concurrency: 16, windowMs: 600_000 };
    world.show(180);
    const openService: RunPorts["openService"] = async (rateLimiter) => {
      const service = await world.ports().openService(rateLimiter);
      const detail: CountingService["detail"] = async (requestAs, signal) => {
        (await rateLimiter.acquire("detail", signal)).settle(0);
        return service.detail(requestAs, signal);
      };
      return { ...service, detail };
    };

    const { row } = await world.run({ runId: RUN }, { openService });

    expect(row?.events).toBe(180);
    expect(world.log.text).not.toContain("about");
  });

  it("stages nothing, and leaves no request under way, where its plan cannot be written", async () => {
    const stopped: unknown[] = [];
    const openService = watched([], (_, signal) => untilAborted(signal, stopped));
    const store = whilePlanned([], () => Promise.reject(full));

    const { error } = await world.run({ runId: RUN }, { store, openService });

    expect(error).toBe(full);
    expect(stopped).toHaveLength(4);
    expect(world.store.keys(layout.run(ACCOUNT, RUN))).toEqual([]);
  });

  it("stages what the plan of another process says, which was written first", async () => {
    const asked: string[] = [];
    const stopped: unknown[] = [];
    const rows = world.truth();
    const [first] = rows.keys();
    const openService = watched(asked, async (requestAs, signal) => {
      const event = rows.get(requestAs);
      if (requestAs === first || event === undefined) return untilAborted(signal, stopped);
      return { kind: "event", event, value: JSON.parse(event), eventDate: "2026-01-01", scope: null };
    });
    const store = whilePlanned(asked, async () => {
      world.events.delete(firstOf(world));
      const stop = new AbortController();
      const onProgress = (): void => stop.abort(new SyncError("INTERRUPTED", "Ctrl-C"));
      await world.run({ runId: RUN }, { isGone: () => true, onProgress, signal: stop.signal });
    });

    const { row } = await world.run({ runId: RUN }, { store, openService });

    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 19 });
    expect(stopped).toHaveLength(1);
    expect(await world.seen()).toEqual(world.truth());
  });

  it("that fails with one of them has its plan, and is continued", async () => {
    const openService = watched([], () => Promise.reject(refused));

    const { error } = await world.run({ runId: RUN }, { store: whilePlanned([]), openService });
    const next = await world.run({ runId: RUN });

    expect(error).toBe(refused);
    expect(next.row).toMatchObject({ outcome: "PUBLISHED", events: 20 });
  });
});

describe("FirstDetails", () => {
  const detail: Detail = { kind: "event", event: "{}", value: {}, eventDate: null, scope: null };
  const listed = (...names: readonly string[]): readonly ListedEvent[] =>
    names.map((name) => ({ uuid: name, requestAs: name.toUpperCase(), listing: "{}" }));

  function service(answer: CountingService["detail"]): {
    readonly service: Pick<CountingService, "detail" | "counts">;
    readonly asked: string[];
  } {
    const asked: string[] = [];
    const counts = { requests: 0, retries: 0, throttled: 0, logins: 0, bytes: 0 };
    return {
      asked,
      service: {
        counts,
        detail: (requestAs, signal) => {
          asked.push(requestAs);
          return answer(requestAs, signal);
        },
      },
    };
  }

  const options = { concurrency: 2, signal: new AbortController().signal };

  it("asks again for an event that was asked for already", async () => {
    const { service: of, asked } = service(async () => detail);
    await using first = new FirstDetails({ service: of, events: listed("a", "b"), ...options });

    await first.detail("A");
    await first.detail("A");

    expect(asked).toEqual(["A", "B", "A"]);
  });

  it("does not request what the plan leaves out: an event whose listing alone is too long for a row", async () => {
    const { service: of, asked } = service(async () => detail);
    const [a, b] = listed("a", "b");
    if (!a || !b) throw new Error("too few events");
    const events = [{ ...a, listing: "x".repeat(65 * 1024 * 1024) }, b];

    await using _ = new FirstDetails({ service: of, events, ...options });

    expect(asked).toEqual(["B"]);
  });

  it("does not keep a detail that was taken", async () => {
    const { service: of } = service(async () => ({ ...detail, value: {} }));
    await using first = new FirstDetails({ service: of, events: listed("a", "b"), ...options });
    const taken = async (name: string): Promise<WeakRef<object>> => {
      const { kind, value } = { value: {}, ...(await first.detail(name)) };
      if (kind !== "event" || typeof value !== "object" || value === null) throw new Error("it is no event");
      return new WeakRef(value);
    };

    const values = [await taken("A"), await taken("B")];
    await new Promise((resolve) => setImmediate(resolve));
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();

    expect(values.map((value) => value.deref())).toEqual([undefined, undefined]);
  });

  it("stops a request with the signal of the call that waits for it", async () => {
    const stopped: unknown[] = [];
    const { service: of } = service((_, signal) => untilAborted(signal, stopped));
    await using first = new FirstDetails({ service: of, events: listed("a", "b"), ...options });
    const stop = new AbortController();

    const answer = first.detail("A", stop.signal);
    stop.abort("enough");
    const late = first.detail("B", stop.signal);

    await expect(answer).rejects.toBe("enough");
    await expect(late).rejects.toBe("enough");
    expect(stopped).toEqual(["enough", "enough"]);
  });

  it("ends what no call has asked for with the first call for another event", async () => {
    const stopped: unknown[] = [];
    const { service: of } = service((name, signal) =>
      name === "C" ? Promise.resolve(detail) : untilAborted(signal, stopped),
    );
    await using first = new FirstDetails({ service: of, events: listed("a", "b"), ...options });

    expect(await first.detail("C")).toBe(detail);

    expect(stopped).toHaveLength(2);
  });
});

function untilAborted(signal: AbortSignal | undefined, stopped: unknown[]): Promise<Detail> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => {
      stopped.push(signal.reason);
      reject(signal.reason);
    });
  });
}

/** Of the first event in the order of the plan. */
function firstOf(world: SmallWorld): number {
  const [first = ""] = world.truth().keys();
  const number = [...world.events.keys()].find((n) => {
    const version = world.events.get(n) ?? 1;
    world.events.delete(n);
    const isFirst = !world.truth().has(first);
    world.events.set(n, version);
    return isFirst;
  });
  return number ?? 1;
}
