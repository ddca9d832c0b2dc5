// Draws what changes at the service.

import type { Chance } from "../chance.ts";
import type { Change, Columns, ServiceChange, Start } from "./plan.ts";

const MINUTE_MS = 60_000;

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
