// A dry run: does everything that a run does, but writes nothing. It says what would be published, which events differ from
// what readers see, and why the snapshot would be held.

import { addRestart } from "../errors/sync-error.ts";
import { RequiredFields } from "../snapshot/fields/field-profile.ts";
import { countReasons, type LeftOutReason, type Manifest, readManifest } from "../snapshot/files/manifest.ts";
import { damageOf, diffRows, rowsOf } from "../snapshot/rows/compare-snapshots.ts";
import { FirstChanges } from "../snapshot/rows/first-changes.ts";
import { lifter } from "../snapshot/rows/lifted-column.ts";
import { parseRow, type Row } from "../snapshot/rows/row.ts";
import type { LogEnd } from "../storage/publication-log.ts";
import { fetchResults } from "./collect/collect.ts";
import { ControlQuestion } from "./collect/control-question.ts";
import { readListOnce } from "./collect/read-list.ts";
import { Refusals } from "./collect/refusals.ts";
import { checkTimeLeft, sayEstimate } from "./collect/time-budget.ts";
import { columnsOfRun } from "./publish/columns.ts";
import { guard, guardRequired, knownRefusals } from "./publish/guard.ts";
import type { RunEnd } from "./record/run-result.ts";
import { countText } from "./record/texts.ts";
import type { RunSession } from "./run-session.ts";

/** So many values a dry run shows of each column of one's own. */
const FIRST_VALUES = 3;

/** So many events that differ are named, in so much text: in AWS they must fit into a response. */
const MOST_NAMED = 100;
const MOST_TEXT = 256 * 1024;

/** What another reading would have said is not known. */
const READ_ONCE = { readings: 1, unstable: 0 } as const;

/**
 * Fetches, checks and compares with the head, and throws everything away. With a limit only events up to the last one that
 * was fetched are compared.
 * @param limit how many of the listed events are fetched, the first by uuid; undefined for all
 */
export async function dryRun(
  session: RunSession,
  { head }: LogEnd,
  limit: number | undefined,
): Promise<RunEnd> {
  const { ports, attempt, overDamaged } = session;
  const base = overDamaged ? null : (head?.snapshot_id ?? null);
  session.useColumns((await columnsOfRun(ports, session.settings)).columns);
  const { settings } = session;
  const service = await session.openService();
  const list = await readListOnce(service, ports.signal, (warning) => ports.logger.warn(warning));
  attempt.doubt = list.doubt;
  const listed = list.events.length + list.rejected;
  const planned = Math.min(list.events.length, limit ?? list.events.length);
  const isPart = planned < list.events.length;
  const [last] = isPart
    ? Iterator.from(list.events)
        .drop(planned - 1)
        .take(1)
    : [];
  const reasons = new Map<string, LeftOutReason>();
  const newlyUnreadable: string[] = [];
  const sayLeft = sayEstimate(planned, session.budget, ports);
  const required = new RequiredFields(settings.require);
  const columns = settings.lifted.map(({ name, pointer }) => ({ name, pointer, values: [] as string[] }));
  const lift = lifter(settings.lifted);
  let events = 0;
  let seen = 0;

  const known = await knownRefusals(ports.store, head);
  const refusals = new Refusals({
    ...{ ports, settings, known, list: { listed, rejected: list.rejected } },
    control: new ControlQuestion(ports, { service, budget: session.budget }),
  });

  async function* rows(): AsyncGenerator<Row> {
    const options = { service, settings, refusals, signal: ports.signal };
    for await (const result of fetchResults(Iterator.from(list.events).take(planned), options)) {
      seen += 1;
      sayLeft(planned - seen);
      ports.onProgress({ done: seen, total: planned, retries: service.counts.retries });
      checkTimeLeft(ports, () => outOfTime(seen, planned));
      if ("leftOut" in result) {
        reasons.set(result.uuid, result.leftOut);
        if (result.leftOut === "unreadable" && !known.uuids.has(result.uuid))
          newlyUnreadable.push(result.uuid);
        continue;
      }
      events += 1;
      const row = parseRow(result.line);
      required.add(row.event);
      const texts = lift(row.event);
      for (const { name, values } of columns) {
        const text = texts[name] ?? null;
        if (text !== null && values.length < FIRST_VALUES) values.push(text);
      }
      yield row;
    }
  }

  const differing = new FirstChanges(MOST_NAMED, { mostText: MOST_TEXT });
  let before: Manifest | undefined;
  try {
    if (base !== null) before = await readManifest(ports.store, base);
    const old = rowsOf(ports.store, before);
    for await (const change of diffRows(last ? rowsUpTo(last.uuid, old) : old, rows())) {
      const reason = change.change === "removed" ? (reasons.get(change.uuid) ?? "not_listed") : null;
      differing.add({ ...change, reason });
    }
  } catch (error) {
    throw addRestart(await damageOf(error, ports.store, [before], () => ports.signal.throwIfAborted()));
  }

  const { gone, forbidden, oversize, too_deep, unreadable } = countReasons(reasons.values());
  const rejected = list.rejected + oversize + too_deep + unreadable;
  const { repeated } = list;
  attempt.counts = { listed, events, gone, forbidden, rejected, repeated, ...differing.counts };
  const { incomplete } = required;
  // A part says nothing about the whole, but for the fields that its events have.
  const hold = isPart
    ? guardRequired({ listed: planned, events, incomplete }, settings)
    : guard(
        {
          ...{ listed, events, gone, forbidden, rejected, oversize, too_deep, unreadable },
          headEvents: head?.events,
          accepted: head?.accepted,
          newlyUnreadable,
          incomplete,
          ...READ_ONCE,
        },
        settings,
      );
  const end = {
    outcome: "DRY_RUN",
    ...(columns.length === 0 ? {} : { columns }),
    // Where there is nothing to compare with, all events are new, and none has to be named.
    ...(before === undefined ? {} : { differing: differing.rows }),
  } as const;
  if (hold === undefined) return { ...end, reason: null };
  const what = isPart ? `A snapshot of these ${events} events` : "It";
  return {
    ...end,
    reason: hold.reason,
    explanation: `${what} would be held: ${ports.words.hold(hold)}`,
    hold,
  };
}

/** The rows whose uuids are not greater than the last. */
async function* rowsUpTo(last: string, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  for await (const row of rows) {
    if (row.uuid > last) return;
    yield row;
  }
}

function outOfTime(done: number, planned: number): string {
  return `The time limit was reached after ${countText(done)} of ${countText(planned)} events. A lower limit takes less time; on a computer of your own nothing limits it.`;
}
