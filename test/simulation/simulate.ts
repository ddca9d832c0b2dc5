// Lives one plan to its end, stops the faults, and asks for one ordinary run, which publishes what the service has.

import type { Account } from "./account.ts";
import { Chance } from "./chance.ts";
import type { Coverage } from "./coverage.ts";
import { readersSeeHead } from "./model/check-outcomes.ts";
import { clockErrorMs } from "./model/check-visibility.ts";
import type { SeenOutcome } from "./model/reader.ts";
import { columnsNamed } from "./plan/draw-trouble.ts";
import { type Command, type Plan, type ServiceChange, startOf } from "./plan/plan.ts";
import type { Ended } from "./process/do-command.ts";
import { World } from "./world.ts";

export interface History {
  readonly plan: Plan;
  /** The first promise that was broken. */
  readonly violation: string | undefined;
  readonly story: readonly string[];
  readonly digest: string;
  readonly coverage: Coverage;
  readonly processes: number;
  readonly calls: number;
  /** Of virtual time. */
  readonly hours: number;
}

export async function simulate(plan: Plan): Promise<History> {
  const world = new World(plan);
  const { story, timeline } = world;
  const beganMs = timeline.nowMs;
  if (!(await world.live())) world.fail("something waits for ever");
  if (world.violation === undefined) await healAndRun(world);
  return {
    plan,
    violation: world.violation,
    story: story.lines,
    digest: story.digest(),
    coverage: world.coverage,
    processes: world.processes.length,
    calls: world.processes.reduce((sum, { calls }) => sum + calls, 0),
    hours: (timeline.nowMs - beganMs) / 3_600_000,
  };
}

/** A lease has expired by then. */
const PAUSE_MS = 2 * 60_000;
/** What has not passed by then is taken for an event's own. */
const LATER_MS = 11 * 60_000;
/** Until then the bucket has aborted every upload. */
const RULE_MS = 48 * 60 * 60_000;

async function healAndRun(world: World): Promise<void> {
  world.hasFaults = false;
  for (const account of world.accounts) heal(world, account);
  const isRestored = new Chance(world.plan.seed, "restores").is(0.5);
  for (const key of world.objects.damaged) {
    if (isRestored || !isOfSnapshot(key)) world.objects.restore(key);
  }
  world.story.tell("world", "the faults stop");
  // A run that a wrong clock has put into the future is over by then.
  await pass(world, PAUSE_MS + clockErrorMs(world));
  // Nothing depends on what uploads have left, whether the bucket's rule has aborted it yet or not.
  const isLate = new Chance(world.plan.seed, "rule of the bucket").is(0.5);
  if (isLate && world.uploads.open.length > 0) await pass(world, RULE_MS);
  for (const account of world.accounts) await runOnce(world, account, !isRestored);
}

function heal(world: World, account: Account): void {
  const { service, tokens } = account;
  const { nowMs } = world.timeline;
  service.isDisabled = false;
  account.namePages();
  service.gateway = undefined;
  account.lift(columnsNamed(account.model.reader.columns()));
  service.keepPromisedLimits();
  if (account.password !== service.password) account.store(service.password);
  if (service.isSpent(tokens.refreshToken)) reauthorize(world, account);
  for (const uuid of service.content.listed()) service.content.refuse(uuid, nowMs, undefined);
  // Where none can be read, nothing tells an odd event from a service that answers none.
  if ([...service.content.listed()].every((uuid) => service.odd.has(uuid))) service.content.add(3, nowMs);
}

/** What has no backup is published over. */
const isOfSnapshot = (key: string): boolean => /^(?:snapshots|changes)\//.test(key);

async function runOnce(world: World, account: Account, overDamaged: boolean): Promise<void> {
  const { model } = account;
  if (world.violation !== undefined) return;
  const run = async (fresh = false): Promise<LastRun> => {
    const ended = await start(world, account, { name: "run", fresh, isDry: false, overDamaged });
    const first = ended?.result?.row;
    // A run that was handed over has ended by now: its outcome file says how.
    const row = first?.outcome === "HANDED_OVER" ? model.reader.outcomeOf(first.run_id) : first;
    return { row, text: ended?.text };
  };
  let last = await run();
  // A body that is no JSON may pass as long as no other was read.
  const mayPass = [...account.service.odd.values()].some((odd) => odd === 500 || odd === "nan");
  if (mayPass && last.row?.error_code === "SERVICE_UNAVAILABLE" && world.violation === undefined) {
    await pass(world, LATER_MS);
    last = await run();
  }
  // All that a run has read is gone: it cannot know that from a service that refuses all, and another one lists again.
  const isEmptied = world.plan.items.some((item) => item.kind === "change" && isEmptying(item.change));
  if (isEmptied && last.row?.error_code === "SERVICE_UNAVAILABLE" && world.violation === undefined)
    last = await run(true);
  if (world.violation !== undefined) return;
  const { row, text } = last;
  if (row?.outcome === "HELD") await accept(world, account, row.run_id, overDamaged);
  else if (row?.outcome !== "PUBLISHED") model.fail(`an ordinary run ends as ${row?.outcome} (${text})`);
  if (world.violation === undefined) checkVisible(account, row?.run_id ?? "");
  if (world.violation !== undefined || row?.outcome !== "HELD" || account.service.odd.size === 0) return;
  const next = await run();
  const isBlocked = next.row?.outcome === "FAILED" || next.row?.reason === "UNREADABLE";
  if (world.violation === undefined && isBlocked)
    model.fail(`one odd event blocks the account: the run after an accept ends so: ${next.text}`);
}

const isEmptying = ({ kind }: ServiceChange): boolean => kind === "empty" || kind === "archive";

interface LastRun {
  readonly row: SeenOutcome | undefined;
  readonly text: string | undefined;
}

/** Where an answer was lost for good, only a person can help. Nothing else loses one. */
function reauthorize({ plan }: World, account: Account): void {
  if (!plan.items.some(({ kind }) => kind === "fault")) account.model.fail("a refresh token is lost");
  account.authorize();
}

async function accept(
  world: World,
  account: Account,
  snapshotId: string,
  overDamaged: boolean,
): Promise<void> {
  const ids = account.snapshotIds();
  const ended = await start(world, account, {
    name: "accept",
    pick: ids.length - 1 - ids.indexOf(snapshotId),
    force: false,
    overDamaged,
  });
  if (ended?.result?.row.outcome !== "PUBLISHED") account.model.fail(`its accept ends as ${ended?.text}`);
}

/** Readers see the last publication. That it is what the service had in its time was checked when it was made. */
function checkVisible({ model }: Account, runId: string): void {
  const head = model.reader.log().at(-1);
  if (head?.snapshot_id !== runId) {
    model.fail(`the head is not the run ${runId}`);
    return;
  }
  if (!readersSeeHead(model)) model.fail(`readers see ${model.visibility.shown}, and the head is ${runId}`);
}

async function start(world: World, { name: account }: Account, command: Command): Promise<Ended | undefined> {
  let ended: Ended | undefined;
  // Only the function can ask whether an execution that has the lease has ended.
  const by = world.executions === undefined ? "laptop" : "function";
  const nth = world.processes.length; // a start of its own, also where the same command was started before
  world.begin(startOf(`last-${command.name}-${account}-${nth}`, account, 0, command, by), (how) => {
    ended = how;
  });
  if (!(await world.untilIdle())) world.fail("something waits for ever");
  return ended;
}

async function pass({ timeline }: World, ms: number): Promise<void> {
  let isOver = false;
  timeline.at(timeline.nowMs + ms, () => {
    isOver = true;
  });
  await timeline.runUntil(() => isOver);
}
