// A refusal that is news is followed by a second question, and the second answer counts.

import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { knownRefusals, Refusals } from "../../../../lambdas/job/run/collect/refusals.ts";
import type { Detail } from "../../../../lambdas/job/service/event-service.ts";
import type { LeftOutReason } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import type { Missing, Publication } from "../../../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication } from "../../storage/publications.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const REASONS = ["gone", "forbidden", "oversize", "too_deep"] as const;
const DAY_MS = 24 * 60 * MINUTE_MS;

const GONE: Detail = { kind: "left-out", reason: "gone" };
const FORBIDDEN: Detail = { kind: "left-out", reason: "forbidden" };
const EVENT: Detail = { kind: "event", event: "{}", value: {}, eventDate: null, scope: null };

let clock: ManualClock;
let log: LogLines;
let stop: AbortController;
/** When each question was asked, in milliseconds. */
let askedMs: number[];
/** Whether what waits has a place among the requests. */
let aside: number;

beforeEach(() => {
  clock = new ManualClock(0);
  log = new LogLines();
  stop = new AbortController();
  askedMs = [];
  aside = 0;
});

interface Given {
  readonly known?: readonly string[];
  readonly accepted?: Missing;
  readonly listed?: number;
  readonly maxMissingPercent?: number;
  readonly windowMs?: number;
  readonly timeLeftMs?: number;
}

function refusalsOf({ known = [], accepted, listed = 100, ...given }: Given = {}): Refusals {
  const { maxMissingPercent = 1, windowMs = MINUTE_MS, timeLeftMs } = given;
  const left = timeLeftMs === undefined ? {} : { timeLeftMs: () => timeLeftMs - clock.monotonicMs() };
  return new Refusals({
    ports: { clock, logger: log, ...left },
    settings: { maxMissingPercent, windowMs },
    known: { uuids: new Set(known), accepted },
    list: { listed, rejected: 0 },
  });
}

/** Asks for an event that the service answers in this way, one time after the other. */
function ask(refusals: Refusals, answers: readonly Detail[], uuid = "a"): Promise<Detail> {
  let asked = 0;
  const request = async (): Promise<Detail> => {
    askedMs.push(clock.monotonicMs());
    const answer = answers[asked++];
    if (answer === undefined) throw new Error("one question too many");
    return answer;
  };
  const stepAside = async (wait: () => Promise<void>): Promise<void> => {
    aside += 1;
    await wait();
    aside -= 1;
  };
  return refusals.answerTo(uuid, request, stepAside, stop.signal);
}

/** Lets time pass in steps of a second. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += SECOND_MS) {
    await nextTurn();
    clock.advance(SECOND_MS);
  }
  await nextTurn();
}

describe("a refusal that is news", () => {
  test.each([
    ["an event", GONE, EVENT],
    ["the same refusal", GONE, GONE],
    ["another refusal", FORBIDDEN, GONE],
    ["a detail that is too large", FORBIDDEN, { kind: "left-out", reason: "oversize" } as const],
  ])("is asked for once more after five seconds, and the second answer counts: %s", async (_, one, two) => {
    const answer = ask(refusalsOf(), [one, two]);

    await pass(4 * SECOND_MS);
    expect(askedMs).toEqual([0]);
    expect(aside).toBe(1);
    await pass(SECOND_MS);

    expect(await answer).toBe(two);
    expect(askedMs).toEqual([0, 5 * SECOND_MS]);
    expect(aside).toBe(0);
  });

  interface Wait extends Given {
    readonly retryAfterS: number;
    readonly afterMs: number;
    readonly asks: string;
  }
  test.each<Wait>([
    { retryAfterS: 3, asks: "after 5 s", afterMs: 5 * SECOND_MS },
    { retryAfterS: 20, asks: "after 20 s", afterMs: 20 * SECOND_MS },
    {
      retryAfterS: 86_400,
      asks: "after the 15 minutes that a run waits for a service",
      afterMs: 15 * MINUTE_MS,
    },
    {
      ...{ retryAfterS: 86_400, windowMs: 20 * MINUTE_MS },
      ...{ asks: "after a limit window that is longer", afterMs: 20 * MINUTE_MS },
    },
    {
      ...{ retryAfterS: 60, timeLeftMs: 70 * SECOND_MS },
      ...{ asks: "before the time to work is over", afterMs: 40 * SECOND_MS },
    },
    {
      ...{ retryAfterS: 60, timeLeftMs: 31 * SECOND_MS },
      ...{ asks: "after 5 s where there is less time to work", afterMs: 5 * SECOND_MS },
    },
  ])(
    "with a Retry-After of $retryAfterS s is asked for again $asks",
    async ({ retryAfterS, afterMs, asks: _, ...given }) => {
      const first = { ...GONE, retryAfterMs: retryAfterS * SECOND_MS } as const;
      const answer = ask(refusalsOf(given), [first, EVENT]);

      await pass(afterMs);

      expect(await answer).toBe(EVENT);
      expect(askedMs).toEqual([0, afterMs]);
    },
  );

  test("throws what the second question throws", async () => {
    const answer = ask(refusalsOf(), [GONE]);

    const rejected = expect(answer).rejects.toThrow("one question too many");
    await pass(5 * SECOND_MS);

    await rejected;
  });

  test("no longer waits once the work is stopped", async () => {
    const answer = ask(refusalsOf(), [GONE, EVENT]);
    await nextTurn();

    const rejected = expect(answer).rejects.toThrow("stopped");
    stop.abort(new Error("stopped"));

    await rejected;
    expect(askedMs).toEqual([0]);
  });

  test("is told once, and again where a run waits twice as long", async () => {
    const refusals = refusalsOf();
    const answers = [
      ask(refusals, [GONE, EVENT]),
      ask(refusals, [GONE, EVENT], "b"),
      ask(refusals, [{ ...FORBIDDEN, retryAfterMs: 9 * SECOND_MS }, EVENT], "c"),
      ask(refusals, [{ ...FORBIDDEN, retryAfterMs: 10 * SECOND_MS }, EVENT], "d"),
    ];

    await pass(10 * SECOND_MS);
    await Promise.all(answers);

    expect(log.lines).toEqual([
      "info the service refuses the details of an event (403, 404 or 410); before such an event is left out, it is asked for once more, in 5 s {}",
      "info the service refuses the details of an event (403, 404 or 410); before such an event is left out, it is asked for once more, in 10 s {}",
    ]);
  });
});

test.each([
  ["an event", EVENT, []],
  ["a detail that is too large", { kind: "left-out", reason: "oversize" } as const, []],
  ["one that is nested too deep", { kind: "left-out", reason: "too_deep" } as const, []],
  ["the refusal of an event that the head leaves out", GONE, ["a"]],
])("asks once where the answer is %s", async (_, first, known) => {
  expect(await ask(refusalsOf({ known }), [first])).toBe(first);
});

describe("once the snapshot will be held for what is missing", () => {
  test("a refusal counts at once, also of an event that waits already", async () => {
    const refusals = refusalsOf({ listed: 100 });
    const waiting = [
      ask(refusals, [GONE], "a"),
      ask(refusals, [{ ...FORBIDDEN, retryAfterMs: DAY_MS }], "b"),
    ];
    await nextTurn();

    for (let n = 0; n < 8; n += 1) refusals.count("gone");

    expect((await Promise.all(waiting)).map((detail) => "reason" in detail && detail.reason)).toEqual([
      "gone",
      "forbidden",
    ]);
    expect(await ask(refusals, [GONE], "c")).toBe(GONE);
    expect(refusals.waiting).toBe(0);
    expect(clock.monotonicMs()).toBe(0);
    expect(log.lines.filter((line) => line.startsWith("warn"))).toEqual([
      "warn more events have no details than may have none: from here on each refusal counts at once, and the snapshot will be held {}",
    ]);
  });

  const accepted = { listed: 100, gone: 0, forbidden: 30, rejected: 0 };
  const allowing = { maxMissingPercent: 50 };
  interface Limit {
    readonly given?: Given;
    readonly counts: Readonly<Partial<Record<LeftOutReason, number>>>;
    readonly asks: "once" | "again";
  }
  test.each<Limit>([
    { counts: { gone: 5 }, asks: "again" },
    { counts: { gone: 3, forbidden: 2, oversize: 1 }, asks: "once" },
    { counts: { gone: 2, too_deep: 4 }, asks: "once" },
    { given: { listed: 1_000 }, counts: { gone: 10 }, asks: "again" },
    { given: { listed: 1_000 }, counts: { gone: 11 }, asks: "once" },
    { given: { accepted }, counts: { forbidden: 35 }, asks: "again" },
    { given: { accepted }, counts: { forbidden: 36 }, asks: "once" },
    { given: { accepted }, counts: { gone: 6 }, asks: "once" },
    { given: { accepted: { ...accepted, gone: 30, forbidden: 0 } }, counts: { gone: 35 }, asks: "again" },
    { given: allowing, counts: { gone: 20 }, asks: "again" },
    { given: allowing, counts: { gone: 21 }, asks: "once" },
    { given: { listed: 4 }, counts: { gone: 1 }, asks: "once" },
  ])("with $given and $counts left out asks $asks", async ({ given, counts, asks }) => {
    const refusals = refusalsOf(given);
    for (const reason of REASONS) for (let n = counts[reason] ?? 0; n > 0; n -= 1) refusals.count(reason);

    const answer = ask(refusals, [GONE, EVENT]);
    await pass(5 * SECOND_MS);

    expect(await answer).toBe(asks === "once" ? GONE : EVENT);
    expect(log.lines.some((line) => line.includes("asked for once more"))).toBe(asks === "again");
  });
});

describe("what the head says of refusals", () => {
  const HEAD = aPublication({ snapshot_id: "2026-01-01T06-00-00.000Z" });
  const KEY = "snapshots/uk/2026-01-01T06-00-00.000Z/_left_out.ndjson";
  const LISTED =
    '{"uuid":"a","reason":"gone"}\n{"uuid":"b","reason":"oversize"}\n{"uuid":"c","reason":"forbidden"}\n';

  async function knownOf(head: Publication | undefined, text?: string): Promise<readonly string[]> {
    const store = new MemoryStore();
    if (text !== undefined) store.put(KEY, text);
    return [...(await knownRefusals(accountStore(store, "uk"), head)).uuids];
  }

  test.each([
    ["each event that it leaves out, for whatever reason", HEAD, LISTED, ["a", "b", "c"]],
    ["none where there is no head", undefined, LISTED, []],
    ["none where its list is damaged", HEAD, LISTED.slice(0, -4), []],
    ["none where it has no list", HEAD, undefined, []],
  ])("is %s", async (_, head, text, known) => {
    expect(await knownOf(head, text)).toEqual(known);
  });

  test("is what a person has accepted", async () => {
    const accepted = { listed: 5, gone: 1, forbidden: 0, rejected: 0 };

    const known = await knownRefusals(accountStore(new MemoryStore(), "uk"), { ...HEAD, accepted });

    expect(known.accepted).toEqual(accepted);
  });
});
