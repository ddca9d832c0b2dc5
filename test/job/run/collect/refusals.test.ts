// An answer without details that is news counts if it comes twice, and others are answered meanwhile.

import { beforeEach, describe, expect, test } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import { ControlQuestion } from "../../../../lambdas/job/run/collect/control-question.ts";
import { Refusals } from "../../../../lambdas/job/run/collect/refusals.ts";
import { knownRefusals } from "../../../../lambdas/job/run/publish/guard.ts";
import { mapOrdered, type Waits } from "../../../../lambdas/job/runtime/map-ordered.ts";
import type { Detail, Question } from "../../../../lambdas/job/service/event-service.ts";
import type { LeftOutReason } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import type { Missing, Publication } from "../../../../lambdas/job/storage/publication.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock, settled, whileTimePasses } from "../../../simulator/manual-clock.ts";
import { toldBy } from "../../../words/said.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { aDetail } from "../../service/events/a-detail.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { aPublication, uk } from "../../storage/publications.ts";
import { hostWith, worldWith } from "../run-defaults.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const REASONS = ["gone", "forbidden", "oversize", "too_deep", "unreadable"] as const;
const DAY_MS = 24 * 60 * MINUTE_MS;

const GONE: Detail = { kind: "left-out", reason: "gone" };
const FORBIDDEN: Detail = { kind: "left-out", reason: "forbidden" };
const EVENT = aDetail("{}");
const ODD = new SyncError("UNEXPECTED_RESPONSE", "status 405");
const DOWN = new SyncError("SERVICE_UNAVAILABLE", "status 500");
const THROTTLED = new SyncError("THROTTLED", "status 429");

/** What the service says to each question for an event: an answer, or an error. The last one is repeated. */
type Says = readonly (Detail | SyncError)[];

let clock: ManualClock;
let log: LogLines;
let stop: AbortController;
/** By event; of all others it has details. */
let says: Map<string, Says>;
/** Each question, with its second: `a 0`, `a again 5`. */
let asked: string[];
/** The seconds at which all requests were to wait. */
let pausedS: number[];
let control: ControlQuestion;

beforeEach(() => {
  clock = new ManualClock(0);
  log = new LogLines();
  stop = new AbortController();
  says = new Map();
  asked = [];
  pausedS = [];
  control = new ControlQuestion(worldWith({ clock, logger: log }), {
    service: { detail },
    budget: { pause: () => pausedS.push(clock.monotonicMs() / SECOND_MS) },
  });
});

async function detail(uuid: string, _?: AbortSignal, question?: Question): Promise<Detail> {
  const [first = EVENT, ...others] = says.get(uuid) ?? [];
  asked.push(
    `${uuid}${question === undefined || question === "first" ? "" : ` ${question}`} ${clock.monotonicMs() / SECOND_MS}`,
  );
  if (others.length > 0) says.set(uuid, others);
  if (first instanceof SyncError) throw first;
  return first;
}

interface Given {
  readonly known?: readonly string[];
  readonly accepted?: Missing;
  readonly listed?: number;
  readonly maxMissingPercent?: number;
  readonly windowMs?: number;
  readonly timeLeftMs?: number;
  readonly wasFoundBefore?: boolean;
  readonly onNoneRead?: () => void;
}

function refusalsOf({ known = [], accepted, listed = 100, ...given }: Given = {}): Refusals {
  const { maxMissingPercent = 1, windowMs = MINUTE_MS, timeLeftMs, wasFoundBefore, onNoneRead } = given;
  const left = timeLeftMs === undefined ? {} : { timeLeftMs: () => timeLeftMs - clock.monotonicMs() };
  return new Refusals({
    ports: { ...worldWith({ clock, logger: log }), ...hostWith(left) },
    settings: { maxMissingPercent, windowMs },
    known: { uuids: new Set(known), accepted },
    list: { listed, rejected: 0 },
    control,
    ...(onNoneRead ? { onNoneRead } : {}),
    ...(wasFoundBefore === undefined ? {} : { wasFoundBefore: async () => wasFoundBefore }),
  });
}

/** Results as a run has them: of an event that is read its uuid, else why it is left out. */
async function collect(refusals: Refusals, uuids: readonly string[], concurrency = 2): Promise<string[]> {
  const work = async (uuid: string, signal: AbortSignal, waits: Waits): Promise<string> => {
    const question = (which: Question): Promise<Detail> => detail(uuid, signal, which);
    const answer = await refusals.answerTo({ uuid, requestAs: uuid }, question, waits, signal);
    if (answer.kind === "event") return uuid;
    refusals.count(uuid, answer.reason);
    return answer.reason;
  };
  return Array.fromAsync(mapOrdered(uuids, work, { concurrency, signal: stop.signal }));
}

const inTime = <T>(work: Promise<T>): Promise<T> => whileTimePasses(clock, work);

const NO_WAITS: Waits = { during: (wait) => wait, forOthers: (wait) => wait };

const askedFor = (uuid: string): readonly string[] => asked.filter((one) => one.startsWith(uuid));
const warnings = (): readonly string[] => log.lines.filter((line) => line.startsWith("warn"));

describe("a refusal that is news", () => {
  test.each<readonly [string, Says, string]>([
    ["an event", [GONE, EVENT], "x"],
    ["the same refusal", [GONE, GONE], "gone"],
    ["another refusal", [FORBIDDEN, GONE], "gone"],
    ["a detail that is too large", [FORBIDDEN, { kind: "left-out", reason: "oversize" }], "oversize"],
  ])(
    "is asked for once more after five seconds, and the second answer counts: %s",
    async (_, answers, result) => {
      says.set("x", answers);

      expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", result, "b"]);

      expect(askedFor("x")).toEqual(["x 0", "x again 5"]);
    },
  );

  test("counts once an event that was read is answered right after it", async () => {
    says.set("x", [GONE]);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", "gone", "b"]);

    expect(asked).toEqual(["a 0", "x 0", "b 0", "x again 5", "b control 5"]);
    expect(pausedS).toEqual([]);
  });

  test("is asked for behind another question where no event was read since", async () => {
    says.set("x", [GONE]);

    expect(await inTime(collect(refusalsOf(), ["a", "x"], 1))).toEqual(["a", "gone"]);

    expect(asked).toEqual(["a 0", "x 0", "a control 5", "x again 5", "a control 5"]);
  });

  test("is asked for again while others that were refused so are answered after all, up to six times", async () => {
    const uuids = ["a", "x", "y1", "y2", "b"];
    says.set("x", [FORBIDDEN]);
    says.set("y1", [FORBIDDEN, EVENT]);
    says.set("y2", [FORBIDDEN, EVENT]);

    expect(await inTime(collect(refusalsOf(), uuids, 8))).toEqual(["a", "forbidden", "y1", "y2", "b"]);

    expect(askedFor("x")).toEqual(["x 0", "x again 5", "x again 10"]);
  });

  test("counts in the end where others are always answered after all", async () => {
    const others = Array.from({ length: 12 }, (_, at) => `y${at}`);
    says.set("x", [FORBIDDEN]);
    for (const [at, uuid] of others.entries())
      says.set(uuid, [...Array(1 + (at % 5)).fill(FORBIDDEN), EVENT]);

    const results = await inTime(collect(refusalsOf(), ["a", "x", ...others], 20));

    expect(results).toEqual(["a", "forbidden", ...others]);
    expect(askedFor("x").length).toBeLessThanOrEqual(6);
  });

  test("counts at once where refusals for another reason were taken back", async () => {
    says.set("x", [GONE]);
    says.set("y", [FORBIDDEN, EVENT]);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "y", "b"], 8))).toEqual(["a", "gone", "y", "b"]);

    expect(askedFor("x")).toEqual(["x 0", "x again 5"]);
  });

  test("shares that question with all whose second answer came before it", async () => {
    const uuids = ["a", "x1", "x2", "x3", "x4", "b"];
    for (const uuid of uuids.slice(1, 5)) says.set(uuid, [GONE]);

    expect(await inTime(collect(refusalsOf(), uuids, 8))).toEqual(["a", "gone", "gone", "gone", "gone", "b"]);

    expect(asked.filter((one) => /^[ab] control/.test(one)).length).toBeLessThanOrEqual(4);
    expect(clock.monotonicMs()).toBe(5 * SECOND_MS);
  });

  interface Wait extends Given {
    readonly retryAfterS: number;
    readonly afterS: number;
    readonly asks: string;
  }
  test.each<Wait>([
    { retryAfterS: 3, asks: "after 5 s", afterS: 5 },
    { retryAfterS: 20, asks: "after 20 s", afterS: 20 },
    { retryAfterS: 86_400, asks: "after the 15 minutes that a run waits for a service", afterS: 900 },
    {
      ...{ retryAfterS: 86_400, windowMs: 20 * MINUTE_MS },
      ...{ asks: "after a limit window that is longer", afterS: 1_200 },
    },
    {
      ...{ retryAfterS: 60, timeLeftMs: 70 * SECOND_MS },
      ...{ asks: "before the time to work is over", afterS: 40 },
    },
    {
      ...{ retryAfterS: 60, timeLeftMs: 31 * SECOND_MS },
      ...{ asks: "after 5 s where there is less time to work", afterS: 5 },
    },
  ])("with a Retry-After of $retryAfterS s is asked for again $asks", async (given) => {
    const { retryAfterS, afterS, asks: _, ...others } = given;
    says.set("x", [{ ...GONE, retryAfterMs: retryAfterS * SECOND_MS }, EVENT]);

    expect(await inTime(collect(refusalsOf(others), ["a", "x", "b"]))).toEqual(["a", "x", "b"]);

    expect(askedFor("x")).toEqual(["x 0", `x again ${afterS}`]);
  });

  const kept = (ageS: number, retryAfterS = 0): Detail => ({
    ...{ kind: "left-out", reason: "gone" },
    ...{ ageMs: ageS * SECOND_MS, retryAfterMs: retryAfterS * SECOND_MS },
  });
  test.each<readonly [string, Says, readonly string[], string]>([
    ["younger than the first answer", [kept(40), kept(3), EVENT], ["x 0", "x again 5"], "gone"],
    ["that no cache has kept", [kept(40), GONE, EVENT], ["x 0", "x again 5"], "gone"],
    [
      "that a cache may have kept since the first",
      [kept(40), kept(45), EVENT],
      ["x 0", "x again 5", "x again 60"],
      "x",
    ],
    [
      "that a cache may have kept since the first, by a rounded age",
      [kept(0), kept(4), EVENT],
      ["x 0", "x again 5", "x again 60"],
      "x",
    ],
    [
      "that a cache keeps for more than a minute",
      [kept(40), kept(45), kept(100)],
      ["x 0", "x again 5", "x again 60"],
      "gone",
    ],
    [
      "that a cache may have kept since the first, and that asks for more time",
      [kept(40), kept(45, 90), EVENT],
      ["x 0", "x again 5", "x again 95"],
      "x",
    ],
  ])(
    "is followed by another question where the second brings one %s",
    async (_, answers, questions, result) => {
      says.set("x", answers);

      expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", result, "b"]);

      expect(askedFor("x")).toEqual(questions);
    },
  );

  test("waits five seconds again after one that no cache has kept", async () => {
    says.set("x", [kept(40), kept(45), GONE]);
    says.set("y", [{ ...GONE, retryAfterMs: 20 * SECOND_MS }, EVENT]);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "y", "b"], 8))).toEqual(["a", "gone", "y", "b"]);

    expect(askedFor("x")).toEqual(["x 0", "x again 5", "x again 60", "x again 65"]);
  });

  test("no longer waits once the work is stopped", async () => {
    says.set("x", [GONE, EVENT]);
    const work = collect(refusalsOf(), ["a", "x"]);
    await settled();

    stop.abort(new Error("stopped"));

    await expect(work).rejects.toThrow("stopped");
    expect(askedFor("x")).toEqual(["x 0"]);
  });

  test("is told once, and again where a run waits twice as long", async () => {
    const asking = (s: number): Says => [{ ...FORBIDDEN, retryAfterMs: s * SECOND_MS }, EVENT];
    for (const [uuid, s] of [
      ["w", 0],
      ["x", 0],
      ["y", 9],
      ["z", 10],
    ] as const)
      says.set(uuid, asking(s));

    await inTime(collect(refusalsOf(), ["a", "w", "x", "y", "z"], 5));

    expect(log.lines).toEqual([
      "info the service refuses the details of an event (403, 404 or 410); before such an event is left out, it is asked for once more, in 5 s {}",
      "info the service refuses the details of an event (403, 404 or 410); before such an event is left out, it is asked for once more, in 10 s {}",
    ]);
  });
});

describe("while the service answers no question", () => {
  /** From the second question for it on, so many answers of an event are refusals. */
  const refusedAgain = (times: number): Says => [EVENT, ...Array<Detail>(times).fill(FORBIDDEN), EVENT];

  test.each<readonly [string, Detail | SyncError]>([
    ["403", FORBIDDEN],
    ["404", GONE],
    ["405", ODD],
  ])("no event is left out, and all requests wait five seconds between questions: %s", async (_, refusal) => {
    says.set("a", refusedAgain(2));
    says.set("x", [refusal, EVENT]);

    expect(await inTime(collect(refusalsOf(), ["a", "x"], 1))).toEqual(["a", "x"]);

    expect(pausedS).toEqual([5, 10]);
    expect(asked).toEqual(["a 0", "x 0", "a control 5", "a control 10", "a control 15", "x again 15"]);
    expect(warnings()).toEqual([
      "warn the service refuses events that it has answered before: all requests wait until it answers again {}",
    ]);
  });

  test("a second answer from that time does not count", async () => {
    says.set("a", [EVENT, FORBIDDEN, EVENT]);
    says.set("x", [GONE, GONE, EVENT]);
    says.set("b", [EVENT, FORBIDDEN, EVENT]);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", "x", "b"]);
  });

  test("the run ends as SERVICE_UNAVAILABLE after six questions, each for another event that was read", async () => {
    for (const uuid of ["a", "b", "c"]) says.set(uuid, [EVENT, FORBIDDEN]);
    says.set("x", [GONE]);

    await expect(inTime(collect(refusalsOf(), ["a", "b", "c", "x"]))).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining("refuses events that it has answered before"),
    });

    const questions = asked.filter((one) => /^[abc] control/.test(one)).map(([uuid]) => uuid);
    expect(questions.toSorted()).toEqual(["a", "a", "b", "b", "c", "c"]);
    expect(clock.monotonicMs()).toBe(30 * SECOND_MS);
  });

  test("a refusal that is repeated six times, and each time before others are answered, ends the run", async () => {
    const answers = Array.from({ length: 12 }, () => [FORBIDDEN, EVENT]);
    says.set("a", [EVENT, ...answers.flat()]);
    says.set("x", [GONE]);

    await expect(inTime(collect(refusalsOf(), ["a", "x"], 1))).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining("refuses events and answers them in turn: after 6 questions"),
    });

    expect(askedFor("x")).toHaveLength(6);
  });

  test.each([GONE, ODD, DOWN])(
    "a control question is not repeated before five seconds: %j",
    async (answer) => {
      says.set("a", [EVENT, answer, EVENT]);
      says.set("x", [GONE, EVENT]);

      expect(await inTime(collect(refusalsOf(), ["a", "x"], 1))).toEqual(["a", "x"]);

      expect(asked).toEqual(["a 0", "x 0", "a control 5", "a control 10", "x again 10"]);
    },
  );

  test.each<readonly [string, Says, string, readonly string[]]>([
    ["and the second answer counts", [DOWN, EVENT], "x", ["x 0", "x again 5"]],
    ["twice if it is refused then", [DOWN, GONE], "gone", ["x 0", "x again 5", "x again 10"]],
    ["twice if it cannot be read then", [DOWN, ODD], "unreadable", ["x 0", "x again 5", "x again 10"]],
  ])("an event that failed meanwhile is asked for again, %s", async (_, answers, result, questions) => {
    says.set("a", [EVENT, DOWN, EVENT]);
    says.set("x", answers);

    expect(await inTime(collect(refusalsOf(), ["a", "x"], 1))).toEqual(["a", result]);

    expect(askedFor("x")).toEqual(questions);
  });

  test("an event that fails again in a later moment ends the run as it did last", async () => {
    says.set("a", [EVENT, DOWN, EVENT]);
    says.set("x", [DOWN, THROTTLED]);

    await expect(inTime(collect(refusalsOf(), ["a", "x"], 1))).rejects.toMatchObject({ code: "THROTTLED" });
  });

  test("an event that fails six times, and each time before others are answered, ends the run as it is", async () => {
    const answers = Array.from({ length: 12 }, () => [DOWN, EVENT]);
    says.set("a", [EVENT, ...answers.flat()]);
    says.set("x", [THROTTLED]);

    await expect(inTime(collect(refusalsOf(), ["a", "x"], 1))).rejects.toBe(THROTTLED);

    expect(askedFor("x")).toHaveLength(6);
  });

  test.each([
    new SyncError("UNAUTHENTICATED", "no"),
    new SyncError("SERVICE_UNAVAILABLE", "no", { fields: { request: "POST /v1/auth/login" } }),
  ])("what is wrong with credentials or the login ends the run at once: $code", async (error) => {
    says.set("a", [EVENT, error]);
    says.set("x", [GONE]);

    await expect(inTime(collect(refusalsOf(), ["a", "x"], 1))).rejects.toBe(error);
  });
});

describe("while no event was read yet", () => {
  test("a refused event waits for the first one that is, and is asked for again then", async () => {
    says.set("x", [GONE, EVENT]);
    const slow = Promise.withResolvers<void>();
    const refusals = refusalsOf();
    const work = async (uuid: string, signal: AbortSignal, waits: Waits): Promise<string> => {
      const question = async (which: Question): Promise<Detail> => {
        if (uuid === "a") await slow.promise;
        return detail(uuid, signal, which);
      };
      return (await refusals.answerTo({ uuid, requestAs: uuid }, question, waits, signal)).kind;
    };
    const results = Array.fromAsync(mapOrdered(["x", "a"], work, { concurrency: 2, signal: stop.signal }));
    clock.sleep(20 * SECOND_MS, stop.signal).then(slow.resolve, () => undefined);

    expect(await inTime(results)).toEqual(["event", "event"]);
    expect(askedFor("x")).toEqual(["x 0", "x again 20"]);
  });

  test("and none is left, one is asked for like a service that is down: then all are asked again", async () => {
    const uuids = ["u", "v", "w", "x", "y", "z"];
    for (const uuid of uuids) says.set(uuid, [GONE, EVENT]);
    says.set("u", [GONE, GONE, GONE, EVENT]);

    expect(await inTime(collect(refusalsOf({ listed: 6 }), uuids))).toEqual(uuids);

    expect(pausedS).toEqual([5, 10]);
  });

  test("and none ever is, first answers count where the snapshot is held for them", async () => {
    const uuids = ["u", "v", "w", "x", "y", "z"];
    for (const uuid of uuids) says.set(uuid, [FORBIDDEN, GONE]);

    expect(await inTime(collect(refusalsOf({ listed: 6 }), uuids))).toEqual(uuids.map(() => "forbidden"));

    expect(asked.filter((one) => one.includes("control"))).toHaveLength(6);
  });

  test("and none ever is, second answers count where it is not", async () => {
    for (const uuid of ["x", "y"]) says.set(uuid, [FORBIDDEN, GONE]);
    says.set("a", [{ kind: "left-out", reason: "oversize" }]);

    expect(await inTime(collect(refusalsOf(), ["x", "a", "y"]))).toEqual(["gone", "oversize", "gone"]);
  });

  test.each<readonly [string, Detail, string]>([
    ["an event", EVENT, "x"],
    ["a detail that is too large", { kind: "left-out", reason: "oversize" }, "oversize"],
  ])("and none is in the end, the answer after that counts: %s", async (_, last, result) => {
    says.set("x", [...Array(7).fill(GONE), last]);

    expect(await inTime(collect(refusalsOf(), ["x"]))).toEqual([result]);
  });

  test.each([ODD, DOWN])(
    "and none is in the end, the error after that ends the run: $code",
    async (error) => {
      says.set("x", [...Array(7).fill(GONE), error]);

      await expect(inTime(collect(refusalsOf(), ["x"]))).rejects.toBe(error);
    },
  );

  test("and none is left, what fails for now ends the run, without another question", async () => {
    says.set("x", [DOWN]);

    await expect(inTime(collect(refusalsOf({ wasFoundBefore: true }), ["x"]))).rejects.toBe(DOWN);

    expect(asked).toEqual(["x 0"]);
  });

  test("and none is for want of time, nothing counts", async () => {
    says.set("x", [GONE]);
    const onNoneRead = (): void => {
      throw new Error("too little time");
    };

    await expect(inTime(collect(refusalsOf({ onNoneRead }), ["x"]))).rejects.toThrow("too little time");
    expect(asked).toEqual(["x 0"]);
  });

  test.each([
    [1, 1],
    [3, 3],
    [100, 6],
  ])(
    "the error of the first of %i events ends the run, once more fail than may be missing: %i",
    async (n, most) => {
      const uuids = Array.from({ length: n }, (_, index) => `x${index}`);
      for (const uuid of uuids) says.set(uuid, [ODD]);

      await expect(inTime(collect(refusalsOf(), uuids, 1))).rejects.toBe(ODD);

      expect(asked).toHaveLength(most);
    },
  );

  test("more events that fail for now than may be missing end the run at once", async () => {
    const uuids = Array.from({ length: 100 }, (_, index) => `x${index}`);
    for (const uuid of uuids) says.set(uuid, [DOWN]);

    await expect(inTime(collect(refusalsOf(), uuids, 1))).rejects.toBe(DOWN);

    expect(asked.length).toBeLessThan(10);
  });
});

describe("an event that cannot be read", () => {
  test("is asked for once more after five seconds, and is left out while others are answered", async () => {
    says.set("x", [ODD]);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", "unreadable", "b"]);

    expect(asked).toEqual(["a 0", "x 0", "b 0", "x again 5", "b control 5"]);
    expect(warnings()).toEqual(["warn status 405 Others are answered, so this event is left out. {}"]);
  });

  test.each<readonly [string, Says, string]>([
    ["an event", [ODD, EVENT], "x"],
    ["a refusal", [ODD, GONE], "gone"],
    ["after a refusal", [FORBIDDEN, ODD], "unreadable"],
  ])("or not, as the second answer says: %s", async (_, answers, result) => {
    says.set("x", answers);

    expect(await inTime(collect(refusalsOf(), ["a", "x", "b"]))).toEqual(["a", result, "b"]);
  });

  test.each([DOWN, THROTTLED])(
    "for a reason that may pass ends the run as it does now, and a later start leaves it out: $code",
    async (error) => {
      says.set("x", [error]);
      const first = inTime(collect(refusalsOf({ wasFoundBefore: false }), ["a", "x", "b"]));
      expect(await toldBy(first)).toMatchObject({
        code: error.code,
        message: `${error.message} Other events are answered. A start of this run that finds the same, 10 minutes from now or later, leaves this event out.`,
      });

      const later = inTime(collect(refusalsOf({ wasFoundBefore: true }), ["a", "x", "b"]));

      expect(await later).toEqual(["a", "unreadable", "b"]);
    },
  );

  test("for a reason that may pass at the second question is one like that", async () => {
    says.set("x", [ODD, DOWN]);
    const first = inTime(collect(refusalsOf({ wasFoundBefore: false }), ["a", "x"], 1));
    await expect(first).rejects.toMatchObject({
      message: expect.stringContaining("status 500 Other events"),
    });
    says.set("x", [ODD, DOWN]);

    const later = inTime(collect(refusalsOf({ wasFoundBefore: true }), ["a", "x"], 1));

    expect(await later).toEqual(["a", "unreadable"]);
  });

  test("for a reason that may pass is not found where others are not answered either", async () => {
    says.set("x", [DOWN]);
    says.set("a", [EVENT, DOWN]);

    const work = inTime(collect(refusalsOf({ wasFoundBefore: true }), ["a", "x"], 1));

    await expect(work).rejects.toBe(DOWN);
    expect(askedFor("x")).toEqual(["x 0"]);
  });

  test("for a reason that may pass is never left out where no earlier start could find it", async () => {
    says.set("x", [DOWN]);

    await expect(inTime(collect(refusalsOf(), ["a", "x"]))).rejects.toMatchObject({ code: DOWN.code });
  });

  const REFUSED = new SyncError("UNAUTHENTICATED", "no");
  test.each<readonly [string, SyncError, Given, Says, object]>([
    ["what concerns all of them", DOWN, {}, [EVENT, REFUSED], REFUSED],
    [
      "the refusals of others, for one that the head leaves out",
      ...([ODD, { known: ["x"] }, [EVENT, FORBIDDEN]] as const),
      { message: expect.stringContaining("refuses events that it has answered before") },
    ],
  ])("ends the run with the problem of the others: %s", async (_, error, given, others, problem) => {
    says.set("x", [error]);
    says.set("a", others);

    await expect(inTime(collect(refusalsOf(given), ["a", "x"], 1))).rejects.toMatchObject(problem);
  });

  test("is none whose question ends because the work is stopped", async () => {
    const question = async (): Promise<Detail> => {
      stop.abort(new Error("stopped"));
      throw ODD;
    };
    const asks = refusalsOf().answerTo({ uuid: "x", requestAs: "x" }, question, NO_WAITS, stop.signal);

    await expect(asks).rejects.toThrow("stopped");
    expect(log.lines).toEqual([]);
  });

  test.each([ODD, DOWN])("is no news if the head leaves it out, and counts at once: $code", async (error) => {
    says.set("x", [error]);

    expect(await inTime(collect(refusalsOf({ known: ["x"] }), ["x", "a"]))).toEqual(["unreadable", "a"]);

    expect(askedFor("x")).toEqual(["x 0"]);
  });

  test.each([
    [100, 5, "left out"],
    [100, 6, "too many"],
    [1_000, 10, "left out"],
    [1_000, 11, "too many"],
  ])("of %i listed with %i such events: %s", async (listed, odd, expected) => {
    const uuids = ["a", ...Array.from({ length: odd }, (_, n) => `x${n}`)];
    for (const uuid of uuids.slice(1)) says.set(uuid, [ODD]);

    const work = inTime(collect(refusalsOf({ listed }), uuids));

    if (expected === "left out") expect(await work).toEqual(["a", ...Array<string>(odd).fill("unreadable")]);
    else
      await expect(work).rejects.toMatchObject({
        code: "SERVICE_UNAVAILABLE",
        message: expect.stringMatching(/^status 405 More than \d+ events cannot be read/),
      });
  });

  test("counts with those that earlier starts left out", async () => {
    const refusals = refusalsOf();
    for (const uuid of ["1", "2", "3", "4", "5"]) refusals.count(uuid, "unreadable");
    says.set("x", [ODD]);

    await expect(inTime(collect(refusals, ["a", "x"]))).rejects.toMatchObject({
      code: "SERVICE_UNAVAILABLE",
    });
  });

  test.each(["UNAUTHENTICATED", "LOGIN_REFUSED", "STORE_FAILED", "INTERRUPTED"] as const)(
    "is none whose error concerns all events: %s",
    async (code) => {
      const error = new SyncError(code, "no");
      says.set("x", [error]);

      await expect(inTime(collect(refusalsOf(), ["a", "x"]))).rejects.toBe(error);
      expect(clock.monotonicMs()).toBe(0);
    },
  );
});

test.each([
  ["an event", EVENT, []],
  ["a detail that is too large", { kind: "left-out", reason: "oversize" } as const, []],
  ["one that is nested too deep", { kind: "left-out", reason: "too_deep" } as const, []],
  ["the refusal of an event that the head leaves out", GONE, ["x"]],
])("asks once where the answer is %s", async (_, first, known) => {
  says.set("x", [first]);

  await inTime(collect(refusalsOf({ known }), ["x"]));

  expect(asked).toEqual(["x 0"]);
});

describe("once the snapshot will be held for what is missing", () => {
  const WILL_BE_HELD =
    "warn more events have no details than may have none: from here on each refusal counts at once, and the snapshot will be held {}";

  test("a refusal counts at once, also of an event that waits already", async () => {
    const refusals = refusalsOf();
    says.set("x", [GONE]);
    says.set("y", [{ ...FORBIDDEN, retryAfterMs: DAY_MS }]);
    const work = collect(refusals, ["a", "x", "y"], 3);
    await settled();

    for (let n = 0; n < 8; n += 1) refusals.count(`${n}`, "gone");

    expect(await work).toEqual(["a", "gone", "forbidden"]);
    expect(await collect(refusals, ["x"])).toEqual(["gone"]);
    expect(refusals.requests).toBe(0);
    expect(clock.monotonicMs()).toBe(0);
    expect(warnings()).toEqual([WILL_BE_HELD]);
  });

  test("no other question is announced", async () => {
    const refusals = refusalsOf();
    for (let n = 0; n < 8; n += 1) refusals.count(`${n}`, "gone");
    says.set("x", [GONE]);

    expect(await collect(refusals, ["a", "x"])).toEqual(["a", "gone"]);
    expect(log.lines).toEqual([WILL_BE_HELD]);
  });

  test.each([0, 8])(
    "an event that cannot be read is asked for twice: %i were missing before",
    async (before) => {
      const refusals = refusalsOf();
      for (let n = 0; n < before; n += 1) refusals.count(`${n}`, "gone");
      says.set("x", [ODD]);
      const work = collect(refusals, ["a", "x"]);
      await settled();

      for (let n = 0; n < 8; n += 1) refusals.count(`${n}`, "gone");

      expect(await inTime(work)).toEqual(["a", "unreadable"]);
      expect(askedFor("x")).toEqual(["x 0", "x again 5"]);
    },
  );

  test("and none was read, no other question is sent either", async () => {
    const refusals = refusalsOf();
    says.set("x", [GONE]);
    const work = collect(refusals, ["x"]);
    await settled();

    for (let n = 0; n < 8; n += 1) refusals.count(`${n}`, "gone");

    expect(await inTime(work)).toEqual(["gone"]);
    expect(asked).toEqual(["x 0"]);
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
    { counts: { gone: 3, unreadable: 3 }, asks: "once" },
    { given: { known: ["unreadable 0", "unreadable 1"] }, counts: { gone: 3, unreadable: 4 }, asks: "again" },
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
    for (const reason of REASONS)
      for (let n = 0; n < (counts[reason] ?? 0); n += 1) refusals.count(`${reason} ${n}`, reason);
    says.set("x", [GONE, EVENT]);

    expect(await inTime(collect(refusals, ["a", "x"]))).toEqual(["a", asks === "once" ? "gone" : "x"]);
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
    return [...(await knownRefusals(uk(store), head)).uuids];
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
