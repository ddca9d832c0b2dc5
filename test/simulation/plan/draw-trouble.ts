// Draws what changes at the service, and what goes wrong in a process, on the network, and with clocks.

import type { Chance } from "../chance.ts";
import {
  type CallFault,
  type Change,
  type ClockFault,
  type Columns,
  faultAt,
  type Odd,
  type Port,
  type ProcessFault,
  type ServiceChange,
  type Setting,
  type Start,
  type WrongAnswer,
} from "./plan.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** At some instant before `mostMs`. */
export function drawChange(chance: Chance, account: string, mostMs: number): Change {
  return { kind: "change", account, afterMs: chance.between(0, mostMs), change: drawServiceChange(chance) };
}

function drawServiceChange(chance: Chance): ServiceChange {
  const share = chance.pick([0.1, 0.3, 0.6]);
  const kind = chance.pick([
    "add",
    "add",
    "revise",
    "revise",
    "archive",
    "archive",
    "revise",
    "add",
    "archive",
    "empty",
    "refuse",
    "admit",
    "end-sessions",
    "password",
    "disable",
  ]);
  switch (kind) {
    case "add":
      return { kind, events: chance.between(1, 4) };
    case "revise":
    case "archive":
      return { kind, share };
    case "refuse":
      return { kind, share, status: chance.pick([403, 404, 410]) };
    case "password":
      return { kind, storedAfterMs: chance.is(0.5) ? chance.between(0, 60 * MINUTE_MS) : undefined };
    case "disable":
      return { kind, forMs: chance.between(MINUTE_MS, 300 * MINUTE_MS) };
    default:
      return { kind };
  }
}

/** From shortly before or after a run starts, so that it lasts while details are fetched. */
export function drawGateway(chance: Chance, starts: readonly Start[]): Change {
  const runs = starts.filter(({ command }) => command.name === "run");
  const [first, ...others] = [...runs, ...starts];
  if (first === undefined) throw new Error("a plan has a start");
  const { account, afterMs } = chance.pick([first, ...others]);
  const forMs = chance.pick([1_000, 4_000, 20_000, 2 * MINUTE_MS]);
  return {
    kind: "change",
    account,
    afterMs: Math.max(0, afterMs + chance.between(-forMs, chance.pick([100, 2_000]))),
    change: {
      kind: "gateway",
      forMs,
      share: chance.pick([0.1, 0.1, 0.15, 0.3, 1]),
      status: chance.pick([403, 404, 410]),
      retryAfterSeconds: chance.pick([undefined, undefined, 3, 30, 2_000]),
    },
  };
}

/** Something before the service refuses all details for a while, in the middle of a run. */
export function drawWall(chance: Chance, starts: readonly Start[]): Change {
  const runs = starts.filter(({ command }) => command.name === "run");
  const { account, afterMs } = drawStart(chance, runs.length === 0 ? starts : runs);
  const retryAfterSeconds = chance.pick([undefined, undefined, 5, 40]);
  return {
    kind: "change",
    account,
    afterMs: afterMs + chance.between(0, chance.pick([200, 2_000, 20_000])),
    change: {
      kind: "gateway",
      forMs: chance.pick([3_000, 12_000, 12_000, 40_000]),
      share: 1,
      status: chance.pick([302, 403, 403, 404, 404, 405, 503]),
      retryAfterSeconds,
      saysLimit: retryAfterSeconds !== undefined && chance.is(0.5),
    },
  };
}

/**
 * One event that cannot be read, from before a run on. What is retried needs many requests: where there are ten a minute, more
 * than a turn has time for; where a session has five, it ends before any was accepted.
 */
export function drawOdd(chance: Chance, { requestsPerMinute }: Setting, starts: readonly Start[]): Change {
  const { account, afterMs } = drawStart(chance, starts);
  const mayRetry = requestsPerMinute === "unlimited";
  return {
    kind: "change",
    account,
    afterMs: Math.max(0, afterMs - chance.between(0, MINUTE_MS)),
    change: { kind: "odd", answer: chance.pick<Odd>(mayRetry ? [302, 405, 500, "nan"] : [302, 405]) },
  };
}

/** Columns of one's own: most of the time more of the same, sometimes others, which do not fit the tables. */
export function drawColumns(chance: Chance, account: string, mostMs: number): Columns {
  const note = chance.is(0.8) ? "/note" : "/scope";
  const chosen = columnsNamed(["spend", "note", "day"].slice(0, chance.between(0, 3)), note);
  const lifted = chance.is(0.15) ? chosen.toReversed() : chosen;
  return { kind: "columns", account, afterMs: chance.between(0, mostMs), lifted };
}

export function columnsNamed(names: readonly string[], note = "/note"): Columns["lifted"] {
  const pointers = new Map([
    ["spend", "/spend"],
    ["note", note],
    ["day", "/date"],
  ]);
  return names.map((name) => ({ name, pointer: pointers.get(name) ?? "" }));
}

export function drawProcessFault(chance: Chance, starts: readonly Start[]): ProcessFault {
  const { id, by } = drawStart(chance, starts);
  const attempt = by === "laptop" ? 0 : chance.pick([0, 0, 0, 1, 2, 3, 4]);
  const about = { kind: "fault", start: id, attempt } as const;
  if (chance.is(0.5)) {
    const changing = chance.pick(CHANGED);
    return {
      ...about,
      port: "any",
      changing,
      nth: chance.pick([1, 1, 1, 2]),
      fault: drawCallFault(chance, "any"),
    };
  }
  const port = chance.pick<Port>(["any", "any", "store", "catalog", "service", "service"]);
  return { ...about, port, nth: drawNth(chance, port), fault: drawCallFault(chance, port) };
}

/** Parts of the names of what runs change: between two of them a crash leaves another state. */
const CHANGED = [
  "publications/",
  "publications/",
  "outcome.json",
  "run-log/",
  "_manifest.json",
  "part-",
  "_held.json",
  "_retired.json",
  "plan",
  "record-",
  "rows-",
  "lease.json",
  "hand-over",
  "tokens",
  "execution",
  "views.sql",
  "events",
  "event_snapshots",
] as const;

/** A crash where few of the others come: at changes that few runs make. */
export function drawRareCrash(chance: Chance, starts: readonly Start[]): ProcessFault {
  const fault = { kind: "kill", when: chance.pick(["before", "after"]) } as const;
  const changing = chance.pick(SELDOM_CHANGED);
  return faultAt(drawStart(chance, starts).id, { changing, nth: chance.pick([1, 1, 2, 5]) }, fault);
}

const SELDOM_CHANGED = [
  "deletes",
  "DeleteObject",
  "BatchDeletePartition",
  "UpdatePartition",
  "_left_out",
  "columns.json",
  "changes/",
  "check-",
  "login-refused",
  "event_changes",
  "sync_runs",
] as const;

/** The first request of a process, most often its login, is put off, or what came of it is not known. */
export function drawFirstAnswer(chance: Chance, starts: readonly Start[]): ProcessFault {
  const status = chance.pick([503, 503, 429, 500]);
  const retryAfter = { seconds: 30, isDate: chance.is(0.5) };
  const answer = { kind: "status", status, ...(status === 429 ? { retryAfter } : {}) } as const;
  const times = chance.pick([1, 2, 4]);
  return faultAt(
    drawStart(chance, starts).id,
    { port: "service", nth: 1 },
    { kind: "answer", answer, times },
  );
}

/** At a request of an upload in parts. */
export function drawUploadFault(chance: Chance, starts: readonly Start[]): ProcessFault {
  const { id } = drawStart(chance, starts);
  const at = { changing: chance.pick(UPLOADING), nth: chance.pick([1, 1, 2, 5]) };
  return faultAt(id, at, drawCallFault(chance, "store"));
}

const UPLOADING = [
  "CreateMultipartUpload",
  "UploadPart",
  "UploadPart",
  "CompleteMultipartUpload",
  "CompleteMultipartUpload",
  "AbortMultipartUpload",
] as const;

/** A run makes about 80 calls, a few of them to the catalog. */
function drawNth(chance: Chance, port: Port): number {
  const most = port === "catalog" ? 12 : port === "any" ? 75 : port === "store" ? 55 : 20;
  return 1 + Math.floor(chance.next() * most);
}

function drawCallFault(chance: Chance, port: Port): CallFault {
  if (port === "service" && chance.is(0.6))
    return { kind: "answer", answer: drawAnswer(chance), times: chance.pick([1, 1, 2, 8]) };
  const kind = chance.pick([
    "kill",
    "kill",
    "kill",
    "kill",
    "kill",
    "pause",
    "pause",
    "slow",
    "fail",
    "lose",
    "conflict",
  ]);
  switch (kind) {
    case "kill":
      return { kind, when: chance.pick(["before", "after"]) };
    case "pause":
      return { kind, ms: chance.pick([5_000, 30_000, 90_000, 5 * MINUTE_MS, 70 * MINUTE_MS]) };
    case "slow":
      return { kind, ms: chance.pick([1_000, 20_000, 100_000]) };
    default:
      return { kind };
  }
}

const ODD: readonly [WrongAnswer, ...WrongAnswer[]] = [
  { kind: "odd", status: 200, text: "{}" },
  { kind: "odd", status: 200, text: "null" },
  { kind: "odd", status: 200, text: '{"error":{"code":1}}' },
  { kind: "odd", status: 202, text: "" },
];

function drawAnswer(chance: Chance): WrongAnswer {
  const kind = chance.pick([
    "reset",
    "lost",
    "hang",
    "truncated",
    "cut",
    "slow-body",
    "html",
    "wrong-uuid",
    "redirect",
    "foreign-encoding",
    "oversize",
    "odd",
    "status",
    "status",
    "status",
  ]);
  if (kind === "odd") return chance.pick<WrongAnswer>(ODD);
  if (kind !== "status") return { kind };
  const status = chance.pick([400, 408, 425, 429, 429, 500, 502, 503]);
  const retryAfter = { seconds: chance.pick([1, 30, 1_000]), isDate: chance.is(0.5) };
  return { kind, status, ...(chance.is(0.5) ? { retryAfter } : {}) };
}

export function drawClockFault(chance: Chance, starts: readonly Start[]): ClockFault {
  const offsets = [0, 1_000, 90_000, 3 * HOUR_MS, 50 * HOUR_MS] as const;
  const sign = chance.pick([1, -1]);
  const jump = {
    afterMs: chance.between(0, 3 * MINUTE_MS),
    byMs: chance.pick(offsets) * chance.pick([1, -1]),
  };
  return {
    kind: "clock",
    start: drawStart(chance, starts).id,
    offsetMs: sign * chance.pick(offsets),
    standsStill: chance.is(0.2),
    jump: chance.is(0.5) ? jump : undefined,
  };
}

/** Two computers whose clocks differ as much as they may, or almost. */
export function drawClockApart(chance: Chance, starts: readonly Start[]): ClockFault {
  const offsetMs = chance.pick([1, -1]) * chance.between(MINUTE_MS, 10 * MINUTE_MS);
  const { id: start } = drawStart(chance, starts);
  return { kind: "clock", start, offsetMs, standsStill: false, jump: undefined };
}

function drawStart(chance: Chance, starts: readonly Start[]): Start {
  const [first, ...others] = starts;
  if (first === undefined) throw new Error("a plan has a start");
  return chance.pick([first, ...others]);
}
