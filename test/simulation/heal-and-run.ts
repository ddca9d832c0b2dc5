// The end of a history: the faults stop, and one ordinary run publishes what the service has.

import { clockErrorMs } from "./model/check-visibility.ts";
import type { Command, Start } from "./plan/plan.ts";
import type { Ended } from "./process/do-command.ts";
import type { World } from "./world.ts";

/** A lease has expired by then. */
const PAUSE_MS = 2 * 60_000;

export async function healAndRun(world: World): Promise<void> {
  const { model, service, story, timeline } = world;
  world.hasFaults = false;
  service.isDisabled = false;
  service.keepPromisedLimits();
  if (world.stored.password !== service.password) world.store(service.password);
  if (world.tokens.refreshToken !== service.provider.refreshToken) reauthorize(world);
  for (const uuid of service.content.listed()) service.content.refuse(uuid, timeline.nowMs, undefined);
  if (service.content.listed().length === 0) service.content.add(3, timeline.nowMs);
  story.tell("world", "the faults stop");
  // A run that a wrong clock has put into the future is over by then.
  await pass(world, PAUSE_MS + clockErrorMs(world));
  const ended = await start(world, { name: "run", fresh: false, isDry: false });
  if (model.violation !== undefined) return;
  const first = ended?.result?.row;
  // A run that was handed over has ended by now: its outcome file says how.
  const row = first?.outcome === "HANDED_OVER" ? model.reader.outcomeOf(first.run_id) : first;
  if (row?.outcome === "HELD") await accept(world, row.run_id);
  else if (row?.outcome !== "PUBLISHED")
    model.fail(`an ordinary run ends as ${row?.outcome} (${ended?.text})`);
  if (model.violation === undefined) checkVisible(world, row?.run_id ?? "");
}

/** Where an answer was lost for good, only a person can help. Nothing else loses one. */
function reauthorize(world: World): void {
  const { model, plan } = world;
  if (!plan.items.some(({ kind }) => kind === "fault")) model.fail("a refresh token is lost");
  world.authorize();
}

async function accept(world: World, snapshotId: string): Promise<void> {
  const ids = world.snapshotIds();
  const ended = await start(world, {
    name: "accept",
    pick: ids.length - 1 - ids.indexOf(snapshotId),
    force: false,
  });
  if (ended?.result?.row.outcome !== "PUBLISHED") world.model.fail(`its accept ends as ${ended?.text}`);
}

/** Readers see the last publication. That it is what the service had in its time was checked when it was made. */
function checkVisible({ model }: World, runId: string): void {
  const head = model.reader.log().at(-1);
  if (head?.snapshot_id !== runId) {
    model.fail(`the head is not the run ${runId}`);
    return;
  }
  const { shown } = model.visibility;
  // On a laptop a table without rows names no files.
  const isEmpty = head.events === 0 && shown === "";
  if (shown !== runId && !isEmpty) model.fail(`readers see ${shown}, and the head is ${runId}`);
}

async function start(world: World, command: Command): Promise<Ended | undefined> {
  let ended: Ended | undefined;
  // Only the function can ask whether an execution that has the lease has ended.
  const by = world.executions === undefined ? "laptop" : "function";
  const last: Start = { kind: "start", id: `last-${command.name}`, afterMs: 0, by, command };
  world.begin(last, (how) => {
    ended = how;
  });
  if (!(await world.untilIdle())) world.model.fail("something waits for ever");
  return ended;
}

async function pass({ timeline }: World, ms: number): Promise<void> {
  let isOver = false;
  timeline.at(timeline.nowMs + ms, () => {
    isOver = true;
  });
  await timeline.runUntil(() => isOver);
}
