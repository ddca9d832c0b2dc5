// Draws a plan from its seed: what the world is like, who starts what, and what goes wrong.

import { Chance } from "../chance.ts";
import { drawDamage, drawPair, drawScript } from "./draw-script.ts";
import {
  drawChange,
  drawClockApart,
  drawClockFault,
  drawColumns,
  drawFirstAnswer,
  drawGateway,
  drawOdd,
  drawProcessFault,
  drawRareCrash,
  drawUploadFault,
  drawWall,
} from "./draw-trouble.ts";
import type { Command, Item, Plan, Setting, Start } from "./plan.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** As in life: nothing in a world is so large. */
const UNDIVIDED_BYTES = 8 * 1024 * 1024;

export function drawPlan(seed: number): Plan {
  const setting = drawSetting(seed);
  const accounts = new Chance(seed, "accounts");
  const starts = drawStarts(new Chance(seed, "starts"), setting).map((start) =>
    drawRare(new Chance(seed, `rare ${start.id}`), setting, start),
  );
  const chance = new Chance(seed, "troubles");
  const lastMs = starts.at(-1)?.afterMs ?? 0;
  const items: Item[] = [...starts];
  for (let n = chance.between(0, 5); n > 0; n -= 1)
    items.push(drawChange(chance, accounts.pick(setting.accounts), lastMs + MINUTE_MS));
  // Some worlds have no faults at all, and most have few: with many, no run gets far.
  const faults = chance.is(0.1) ? 0 : chance.between(1, 6);
  for (let n = 0; n < faults; n += 1) items.push(drawProcessFault(chance, starts));
  if (chance.is(0.2)) items.push(drawClockFault(chance, starts));
  const apart = new Chance(seed, "clocks apart");
  if (apart.is(0.15)) items.push(drawClockApart(apart, starts));
  const script = new Chance(seed, "script");
  if (script.is(0.35)) {
    const account = accounts.pick(setting.accounts);
    items.push(...drawScript(script, setting, account, lastMs + script.between(0, HOUR_MS)));
  }
  const columns = new Chance(seed, "columns");
  for (let n = columns.is(0.2) ? columns.between(1, 3) : 0; n > 0; n -= 1)
    items.push(drawColumns(columns, columns.pick(setting.accounts), lastMs));
  const damage = new Chance(seed, "damage");
  if (damage.is(0.15)) {
    const nightly = new Chance(seed, "nightly");
    const damaged = drawDamage(damage, accounts.pick(setting.accounts), lastMs + HOUR_MS);
    items.push(...damaged.map((item) => drawNightly(nightly, item)));
  }
  const crowd = new Chance(seed, "pair");
  if (crowd.is(0.08)) items.push(...drawPair(crowd, crowd.pick(setting.accounts), lastMs + HOUR_MS));
  const all = items.filter((item): item is Start => item.kind === "start");
  const gateway = new Chance(seed, "gateway");
  for (let n = gateway.is(0.5) ? gateway.between(1, 4) : 0; n > 0; n -= 1)
    items.push(drawGateway(gateway, all));
  const login = new Chance(seed, "first request");
  if (login.is(0.15)) items.push(drawFirstAnswer(login, all));
  const wall = new Chance(seed, "wall");
  for (let n = wall.is(0.3) ? wall.between(1, 3) : 0; n > 0; n -= 1) items.push(drawWall(wall, all));
  const odd = new Chance(seed, "odd");
  // The questions for it use up a session of five requests, each time, and twenty requests of an invocation of two minutes.
  const hasRoom =
    setting.session.maxRequests === undefined &&
    (setting.requestsPerMinute === "unlimited" || setting.timeLimitMs > 2 * MINUTE_MS);
  if (!setting.hasTwoVersions && odd.is(0.25) && hasRoom) items.push(drawOdd(odd, setting, all));
  const crash = new Chance(seed, "rare crash");
  if (crash.is(0.15)) items.push(drawRareCrash(crash, all));
  const upload = new Chance(seed, "upload");
  const isDivided = setting.warehouse === "bucket" && setting.partBytes < UNDIVIDED_BYTES;
  for (let n = isDivided ? upload.between(0, 2) : 0; n > 0; n -= 1) items.push(drawUploadFault(upload, all));
  return { seed, setting, items };
}

function drawSetting(seed: number): Setting {
  const chance = new Chance(seed, "setting");
  const guard = new Chance(seed, "guard");
  const list = new Chance(seed, "list");
  const number = new Chance(seed, "number of accounts");
  const size = new Chance(seed, "size of parts");
  const versions = new Chance(seed, "versions");
  const pages = new Chance(seed, "pages");
  const words = new Chance(seed, "words of pages");
  const hasTwoVersions = versions.is(0.15);
  const proofs = new Chance(seed, "sessions and tokens");
  const open = new Chance(seed, "open to strangers");
  // The frozen version does not know such sessions.
  const isOpen = !hasTwoVersions && open.is(0.3);
  const maxAgeMs = (drawnMs: number | undefined): number | undefined =>
    isOpen ? open.pick([70 * SECOND_MS, 3 * MINUTE_MS, 21 * MINUTE_MS]) : drawnMs;
  const requestsPerMinute = chance.pick(["unlimited", "unlimited", 10, 20, 60]);
  const warehouse = chance.pick(["directory", "bucket"]);
  const latencyMs = chance.pick([5, 50, 500, 5_000]);
  const drawn: Omit<Setting, "knownAfterMs"> = {
    accounts: number.is(0.3) ? ["uk", "uk-2"] : ["uk"],
    warehouse,
    method: chance.pick(["session", "session", "basic", "oauth"]),
    hasTwoVersions,
    events: chance.pick([1, 4, 7, 7, 10, 14]),
    requestsPerMinute,
    bytesPerMinute: chance.pick(["unlimited", "unlimited", "unlimited", 4_000]),
    stricterRequestsPerMinute: chance.is(0.1) ? chance.between(5, 8) : undefined,
    concurrency: chance.between(1, 6),
    rangeEvents: chance.between(2, 6),
    retainDays: chance.pick([undefined, 1, 2]),
    maxDropPercent: chance.pick([20, 50]),
    maxGrowthPercent: guard.pick([undefined, undefined, undefined, 50]),
    maxMissingPercent: chance.pick([1, 50]),
    // A third of the events have a note.
    require: guard.pick([[], [], [], [], ["/note"], ["/date", "/spend"], ["/scope"]]),
    pageSize: chance.pick([undefined, undefined, 5]),
    // The frozen version knows links only.
    paging: hasTwoVersions ? "link" : pages.pick(["link", "body-link", "cursor", "page", "offset"]),
    isPagingKnown: pages.is(0.7),
    wording: words.between(0, 11),
    behindLast: words.pick([undefined, undefined, 204, 404, "null", "last"]),
    isShuffled: list.is(0.5),
    session: {
      maxAgeMs: maxAgeMs(chance.pick([undefined, undefined, 90 * SECOND_MS])),
      maxRequests: chance.pick([undefined, undefined, 5]),
      exclusive: chance.is(0.2),
      ends: proofs.pick([401, 401, 419, 440, "redirect"]),
      isOpen,
    },
    tokens: {
      lifeMs: chance.pick([20 * SECOND_MS, 5 * MINUTE_MS, HOUR_MS]),
      rotates: chance.is(0.7),
      graceMs: chance.pick([0, 10 * SECOND_MS]),
    },
    latencyMs,
    partBytes: size.is(0.2) ? size.pick([100, 300]) : UNDIVIDED_BYTES,
    catalogLagMs: chance.pick([0, 0, 2_000]),
    // An invocation must be long enough for the calls of a start.
    timeLimitMs:
      latencyMs > 500 ? 15 * MINUTE_MS : chance.pick([15 * MINUTE_MS, 5 * MINUTE_MS, 2 * MINUTE_MS]),
    hasStateMachine: warehouse === "bucket" && chance.is(0.7),
    maxTurns: chance.pick([1, 2, 1_000]),
  };
  // While the budget keeps a token waiting for its second try, one that lives for seconds may end.
  const { lifeMs } = drawn.tokens;
  return { ...drawn, knownAfterMs: lifeMs < MINUTE_MS ? 0 : proofs.pick([0, 500, 2_500]) };
}

/** Some starts are for another account, or for all of them, or do what is done seldom. */
function drawRare(chance: Chance, { accounts }: Setting, start: Start): Start {
  const { by, command } = start;
  const account = chance.pick(accounts);
  if (by === "laptop" && command.name === "run" && accounts.length > 1 && chance.is(0.4))
    return { ...start, account: "all" };
  if (by === "schedule" || chance.is(0.75)) return { ...start, account };
  const pick = chance.pick([1, 1, 2, 3, 0]);
  const retire: Command = { name: "retire", pick };
  const rare =
    by === "laptop"
      ? chance.pick<Command>([
          retire,
          { name: "remove" },
          { name: "run", fresh: false, isDry: true },
          { name: "diff", a: pick, b: chance.pick([undefined, 0, 1]) },
        ])
      : retire;
  return { ...start, account, command: rare };
}

/** The schedule meets damage too, and its run is started again after it has failed. */
function drawNightly(chance: Chance, item: Item): Item {
  if (item.kind !== "start" || item.command.name !== "run" || chance.is(0.8)) return item;
  return { ...item, by: "schedule", command: { name: "run", fresh: false, isDry: false } };
}

/** In the order of time: seconds apart, so that they overlap, or hours and days. */
function drawStarts(chance: Chance, setting: Setting): readonly Start[] {
  const starts: Start[] = [];
  let afterMs = 0;
  const isCrowded = chance.is(0.4);
  for (let n = chance.between(1, 6); n > 0; n -= 1) {
    afterMs += isCrowded ? chance.between(0, chance.pick([5, 60, 600]) * SECOND_MS) : drawGapMs(chance);
    const by =
      setting.warehouse === "bucket"
        ? chance.pick(["schedule", "schedule", "function", "laptop"])
        : chance.pick(["laptop", "laptop", "schedule"]);
    const isScheduled = by === "schedule";
    const command: Command = isScheduled ? { name: "run", fresh: false, isDry: false } : drawCommand(chance);
    const again = isScheduled && chance.is(0.15) ? { againAfterMs: chance.between(0, 90 * SECOND_MS) } : {};
    starts.push({
      kind: "start",
      id: `p${starts.length + 1}`,
      account: setting.accounts[0],
      afterMs,
      by,
      command,
      ...again,
    });
  }
  return starts;
}

function drawGapMs(chance: Chance): number {
  const [least, most] = chance.pick([
    [0, 5 * SECOND_MS],
    [0, 2 * MINUTE_MS],
    [0, 2 * MINUTE_MS],
    [MINUTE_MS, 20 * MINUTE_MS],
    [MINUTE_MS, 90 * MINUTE_MS],
    [HOUR_MS, 30 * HOUR_MS],
    [20 * HOUR_MS, 60 * HOUR_MS],
  ]);
  return chance.between(least, most);
}

function drawCommand(chance: Chance): Command {
  const name = chance.pick([
    "run",
    "run",
    "run",
    "run",
    "accept",
    "rollback",
    "rollback",
    "check",
    "discover",
  ]);
  // Most of the time one of the last.
  const pick = chance.pick([0, 0, 1, 1, 2, 4]);
  switch (name) {
    case "run":
      return { name, fresh: chance.is(0.2), isDry: chance.is(0.08) };
    case "accept":
      return { name, pick, force: chance.is(0.3) };
    case "rollback":
      return { name, pick, pin: chance.is(0.5) };
    case "check":
      return { name, deep: chance.is(0.3) };
    case "discover":
      return { name };
  }
}
