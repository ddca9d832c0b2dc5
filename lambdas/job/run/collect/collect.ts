// COLLECT: fetches the details of a plan, N at once, and stages them in plan order, range after range.

import { SyncError } from "../../errors/sync-error.ts";
import { mapOrdered, type Waits } from "../../runtime/map-ordered.ts";
import type { EventService } from "../../service/event-service.ts";
import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { lineBytes } from "../../snapshot/files/gzip-lines.ts";
import type { LeftOut, LeftOutReason } from "../../snapshot/files/manifest.ts";
import { MAX_PART_BYTES, writeLines } from "../../snapshot/files/parts.ts";
import { lifter } from "../../snapshot/rows/lifted-column.ts";
import { fitsRow, rowLine } from "../../snapshot/rows/row.ts";
import type { Chain, RangeRows, StagedResult } from "../../snapshot/staging/chain.ts";
import type { PlannedEvent } from "../../snapshot/staging/plan.ts";
import type { SnapshotFacts } from "../publish/build-snapshot.ts";
import type { KnownRefusals } from "../publish/guard.ts";
import type { Attempt } from "../record/attempt.ts";
import { countText } from "../record/texts.ts";
import type { HostPorts, WarehousePorts, WorldPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { ControlQuestion, REMEMBERED } from "./control-question.ts";
import { wasFoundBefore } from "./found-before.ts";
import { Refusals } from "./refusals.ts";
import { type EarlyStop, StoppedEarly, type TimeBudget } from "./time-budget.ts";

/** What a result takes beside its text, in UTF-16 code units. */
const RESULT_WEIGHT = 128;

interface FetchOptions {
  readonly service: Pick<EventService, "detail">;
  readonly settings: Pick<RunSettings, "concurrency" | "lifted">;
  readonly refusals: Refusals;
  readonly signal: AbortSignal;
  /** Called for each row as soon as it is known, with the event's text, and its value as `JSON.parse` gives it. */
  readonly onRow?: (event: string, value: unknown) => void;
}

/** The results of `events` in their order: a row's line, or why there is none. */
export function fetchResults(
  events: Iterable<PlannedEvent>,
  options: FetchOptions,
): AsyncGenerator<StagedResult, void, undefined> {
  const { service, settings, refusals, signal, onRow } = options;
  const { concurrency } = settings;
  const lift = lifter(settings.lifted);
  const leaveOut = (uuid: string, leftOut: LeftOutReason): StagedResult => {
    const { isDecided: isUnconfirmed } = refusals;
    refusals.count(uuid, leftOut);
    return { uuid, leftOut, isUnconfirmed };
  };
  const fetchOne = async (planned: PlannedEvent, stop: AbortSignal, waits: Waits): Promise<StagedResult> => {
    const { uuid, requestAs, listing, isOversize } = planned;
    if (isOversize) return leaveOut(uuid, "oversize");
    const detail = await refusals.answerTo(
      planned,
      (question) => service.detail(requestAs, stop, question),
      waits,
      stop,
    );
    if (detail.kind === "left-out") return leaveOut(uuid, detail.reason);
    const { eventDate, scope, event } = detail;
    const row = { uuid, event_date: eventDate, scope, event, listing };
    const lifted = lift(event);
    if (!fitsRow({ ...row, ...lifted })) return leaveOut(uuid, "oversize");
    onRow?.(event, detail.value);
    return { uuid, line: rowLine(row, lifted) };
  };
  return mapOrdered(events, fetchOne, {
    concurrency,
    weigh: (result) => RESULT_WEIGHT + ("line" in result ? result.line.length : 0),
    signal,
  });
}

/** A session, while it collects. */
export interface CollectSession {
  readonly ports: WorldPorts & WarehousePorts & HostPorts;
  readonly settings: Pick<RunSettings, "concurrency" | "lifted" | "maxMissingPercent" | "windowMs">;
  readonly timeBudget: TimeBudget;
  readonly budget: Pick<RateLimiter, "pause">;
  readonly attempt: Pick<Attempt, "startedAtMs">;
  hasAdvanced: boolean;
}

export interface CollectTask {
  readonly service: FetchOptions["service"];
  /** The plan, and what is staged of it. */
  readonly chain: Chain;
  readonly known: KnownRefusals;
  /** The facts of the ranges that this process records. */
  readonly facts: Pick<SnapshotFacts, "add" | "markCounted" | "beginAgain">;
  /** Where a range is cut, beside the size of a part. */
  readonly cut: RangeCut;
  /** Called for each event that is done, with how many of the plan are. */
  readonly onDone: (done: number) => void;
}

interface RangeCut {
  /** How many events a range has at most. */
  readonly events: number;
  /** After the first event that is done so long after the range began, in milliseconds. */
  readonly ms: number;
}

const MINUTE_MS = 60_000;

/**
 * A 64th of the work, within bounds: what a kill loses is small, and so is the number of files.
 * @param ms how long all of it takes, as far as the budget tells
 */
export function rangeCut(events: number, ms: number): RangeCut {
  return {
    events: Math.min(Math.max(Math.ceil(events / 64), 1_000), 5_000),
    ms: Math.min(Math.max(ms / 64, MINUTE_MS), 15 * MINUTE_MS),
  };
}

/**
 * Stages every event that is not staged. Throws `StoppedEarly` where time or budget end; that, and an error that leaves the
 * run unfinished, comes after what is finished in order is recorded.
 */
export async function collect(session: CollectSession, task: CollectTask): Promise<void> {
  const { chain, facts } = task;
  while (!chain.isComplete) {
    const { isLost } = await collectOn(session, task);
    // What was fetched from there on is not used. Not before: answers that were in flight have come until now.
    if (isLost) facts.beginAgain();
  }
}

/** From the end of the chain on, until all is staged, or another process has recorded a range there. */
async function collectOn(session: CollectSession, task: CollectTask): Promise<{ readonly isLost: boolean }> {
  const { ports, settings, timeBudget, budget, attempt } = session;
  const { service, chain, facts, known } = task;
  const { plan } = chain;
  const { events: total, run_id: runId } = plan.header;
  const first = chain.end;
  const { store, clock } = ports;
  let stop: EarlyStop | undefined;
  const refusals = new Refusals({
    ...{ ports, settings, known, list: plan.header },
    control: new ControlQuestion(ports, { service, budget }, readBefore(chain)),
    onNoneRead: () => {
      if (stop) throw new StoppedEarly(stop, `${chain.end} of ${total} events are staged`);
    },
    wasFoundBefore: (uuid) => wasFoundBefore(store, { runId, uuid }, clock.now(), attempt.startedAtMs),
  });
  for (const { left_out: leftOut } of chain.records)
    for (const { uuid, reason } of leftOut) refusals.count(uuid, reason);
  function* events(): Generator<PlannedEvent> {
    for (const event of plan.events(first)) {
      // Second questions have a request each: if none were left, the next turn would begin with the same events, and end so.
      stop = timeBudget.stop(0, 1 + refusals.requests);
      if (stop) return;
      yield event;
    }
  }
  const end = new AbortController();
  const results = new Results(
    fetchResults(events(), {
      service,
      settings,
      refusals,
      signal: AbortSignal.any([ports.signal, end.signal]),
      onRow: (event, value) => facts.add(event, value),
    }),
  );
  try {
    while (!chain.isComplete) {
      const { failure, isLost } = await collectRange(session, task, results);
      if (isLost) return { isLost };
      if (failure) throw failure.error;
      if (stop && (await results.peek()) === undefined)
        throw new StoppedEarly(stop, `${chain.end} of ${total} events are staged`);
    }
    return { isLost: false };
  } catch (error) {
    if (chain.end > first && leavesUnfinished(error))
      ports.logger.info(
        `${countText(chain.end)} of ${countText(total)} events are kept for the next start of this run`,
      );
    throw error;
  } finally {
    end.abort(); // after a failure of the store, a result still in flight would delay the return
    await results.close();
  }
}

/** The first events that earlier starts have read, as many as are asked for. */
function readBefore({ plan, records, end }: Chain): readonly string[] {
  const leftOut = new Set(records.flatMap(({ left_out }) => left_out).map(({ uuid }) => uuid));
  const most = Math.min(REMEMBERED, end - leftOut.size);
  return Iterator.from(plan.events(0))
    .filter(({ uuid }) => !leftOut.has(uuid))
    .map(({ requestAs }) => requestAs)
    .take(most)
    .toArray();
}

/** Writes the next range and records it. An error of the results ends it earlier, and is returned. */
async function collectRange(
  session: CollectSession,
  { chain, facts, cut, onDone }: CollectTask,
  results: Results,
): Promise<{ readonly failure: { readonly error: unknown } | undefined; readonly isLost?: true }> {
  const { store, clock, random } = session.ports;
  const { run_id: runId } = chain.plan.header;
  const place = chain.end;
  const beganAtMs = clock.monotonicMs();
  const leftOut: LeftOut[] = [];
  let isUnconfirmed = false;
  let events = 0;
  let bytes = 0;
  let failure: { readonly error: unknown } | undefined;

  /** The next row of the range; undefined at its end. */
  async function next(): Promise<string | undefined> {
    while (events < cut.events && clock.monotonicMs() - beganAtMs < cut.ms) {
      const result = await results.peek().catch((error: unknown) => {
        if (!leavesUnfinished(error)) throw error;
        failure = { error };
        return undefined;
      });
      if (result === undefined) return undefined;
      const size = "line" in result ? lineBytes(result.line) : 0;
      // Never the first row: two of the largest fit.
      if (bytes + size > MAX_PART_BYTES) return undefined;
      results.take();
      events += 1;
      bytes += size;
      onDone(place + events);
      if ("line" in result) return result.line;
      leftOut.push({ uuid: result.uuid, reason: result.leftOut });
      isUnconfirmed ||= result.isUnconfirmed;
    }
    return undefined;
  }
  const firstLine = await next();
  async function* lines(): AsyncGenerator<string> {
    for (let line = firstLine; line !== undefined; line = await next()) yield line;
  }
  let rows: RangeRows | null = null;
  const key = store.keys.rows(runId, place, random.token());
  if (firstLine !== undefined) {
    const { isNew: _, ...written } = await writeLines(store, key, lines());
    rows = { file: key.slice(key.lastIndexOf("/") + 1), ...written };
  }
  if (events === 0) return { failure };

  const unconfirmed = isUnconfirmed ? ({ unconfirmed: true } as const) : {};
  if (await chain.add({ end: place + events, rows, left_out: leftOut, ...unconfirmed })) {
    session.hasAdvanced = true;
    facts.markCounted(place);
    return { failure };
  }
  if (rows) await store.delete([key]);
  return { failure, isLost: true };
}

/** Results one by one: the next one may be looked at before it is taken. */
class Results {
  readonly #source: AsyncGenerator<StagedResult, void>;
  #next: Promise<IteratorResult<StagedResult, void>> | undefined;

  constructor(source: AsyncGenerator<StagedResult, void>) {
    this.#source = source;
  }

  /** Undefined at the end. */
  async peek(): Promise<StagedResult | undefined> {
    this.#next ??= this.#source.next();
    const { done, value } = await this.#next;
    return done ? undefined : value;
  }

  take(): void {
    this.#next = undefined;
  }

  async close(): Promise<void> {
    await this.#source.return();
  }
}

/** Not a lost lease: another process works on this run. */
function leavesUnfinished(error: unknown): boolean {
  return error instanceof SyncError && error.isRetryable;
}
