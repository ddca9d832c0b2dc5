// COLLECT: fetches the details of a plan, N at once, and stages them shard by shard in plan order.

import { SyncError } from "../../errors/sync-error.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { EventService } from "../../service/event-service.ts";
import type { LiftedColumn } from "../../snapshot/rows/lifted-column.ts";
import { lifter } from "../../snapshot/rows/lifter.ts";
import { type Row, rowLine } from "../../snapshot/rows/row.ts";
import { fitsRow } from "../../snapshot/rows/row-size.ts";
import type { PlannedEvent } from "../../snapshot/staging/plan.ts";
import { writeShard } from "../../snapshot/staging/shard.ts";
import type { PartialShard } from "../../snapshot/staging/shard-writer.ts";
import type { StagedResult } from "../../snapshot/staging/staged-result.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import type { BuildAhead } from "../build/build-ahead.ts";
import { keepPartialShard } from "./keep-partial-shard.ts";
import { mapOrdered } from "./map-ordered.ts";
import { ShardGate } from "./shard-gate.ts";
import { ShardResults } from "./shard-results.ts";
import type { TimeBudget } from "./time-budget.ts";
import type { UnfinishedRun } from "./unfinished-run.ts";

/** Finished rows that may wait for an older one, in UTF-16 code units: bounds memory to about twice that. */
const MAX_WAITING_TEXT = 16 * 1024 * 1024;
/** What a result takes beside its text, in the same unit. */
const RESULT_WEIGHT = 128;

export interface FetchOptions {
  readonly service: Pick<EventService, "detail">;
  readonly concurrency: number;
  readonly lifted: readonly LiftedColumn[];
  readonly signal: AbortSignal;
  /**
   * Called for each row as soon as it is known, with the event as `JSON.parse` gives it.
   * @param place of the event among `events`, counted from 0
   */
  readonly onRow?: (place: number, row: Row, event: unknown) => void;
  /** Called at the end with the results that were finished but not taken, in order. */
  readonly onUntaken?: (results: readonly StagedResult[]) => void;
}

/** The results of `events` in their order: a row's line, or why there is none. */
export function fetchResults(
  events: Iterable<PlannedEvent>,
  options: FetchOptions,
): AsyncGenerator<StagedResult, void, undefined> {
  const { service, concurrency, signal, onRow, onUntaken = () => undefined } = options;
  const lift = lifter(options.lifted);
  const fetchOne = async (planned: PlannedEvent, stop: AbortSignal, place: number): Promise<StagedResult> => {
    const { uuid, requestAs, listing, isOversize } = planned;
    if (isOversize) return { uuid, leftOut: "oversize" };
    const detail = await service.detail(requestAs, stop);
    if (detail.kind === "left-out") return { uuid, leftOut: detail.reason };
    const { eventDate, scope, event } = detail;
    const row = { uuid, event_date: eventDate, scope, event, listing };
    const lifted = lift(event);
    if (!fitsRow({ ...row, ...lifted })) return { uuid, leftOut: "oversize" };
    onRow?.(place, row, detail.value);
    return { uuid, line: rowLine(row, lifted) };
  };
  return mapOrdered(events, fetchOne, {
    concurrency,
    ahead: Math.max(64, concurrency * 4),
    maxWeight: MAX_WAITING_TEXT,
    weigh: (result) => RESULT_WEIGHT + ("line" in result ? result.line.length : 0),
    signal,
    onUntaken,
  });
}

export interface CollectOptions extends FetchOptions {
  readonly store: Store;
  readonly logger: Logger;
  readonly account: string;
  /** The plan, and what an earlier attempt has finished of it. */
  readonly work: UnfinishedRun;
  readonly timeBudget: TimeBudget;
  /** Called before each shard; throws where this process should not work on. */
  readonly beforeShard: () => Promise<void>;
  /** Called for each event that was fetched. */
  readonly onDone: () => void;
  /** Follows what is fetched and staged. */
  readonly build: Pick<BuildAhead, "rowFetched" | "blockStaged" | "shardStaged">;
}

/**
 * Stages every shard that is missing. One stream of requests runs through all of them, without a stop between
 * shards. Throws `StoppedEarly` between two shards, with nothing fetched beyond, where time or budget do not cover the
 * next one. An error that leaves the run unfinished passes through after finished results of begun shards are kept.
 */
export async function collect(options: CollectOptions): Promise<void> {
  const { store, logger, account, work, timeBudget, beforeShard, onDone, build } = options;
  const { plan, staged, kept } = work;
  const missing = Array.from({ length: plan.shards }, (_, index) => index).filter((i) => !staged.has(i));
  const eventsOf = (index: number): readonly PlannedEvent[] =>
    kept.size === 0 ? plan.shard(index) : plan.shard(index).filter(({ uuid }) => !kept.has(uuid));
  const toFetch = (index: number): number => (kept.size === 0 ? plan.sizeOf(index) : eventsOf(index).length);
  const gate = new ShardGate({ timeBudget, total: plan.header.events, missing, toFetch });
  let untaken: readonly StagedResult[] = [];
  const onUntaken = (results: readonly StagedResult[]): void => {
    untaken = results;
  };
  const end = new AbortController();
  const signal = AbortSignal.any([options.signal, end.signal]);
  const fetched = fetchResults(eventsOfShards(gate, eventsOf), {
    ...options,
    signal,
    onRow: (place, row, event) => build.rowFetched(place, row, event),
    onUntaken,
  });
  const onFetched = (): void => {
    gate.advance();
    onDone();
  };
  try {
    for (const index of gate) {
      await beforeShard();
      const results = new ShardResults({ events: plan.shard(index), fetched, kept, onFetched });
      const unstaged = missing.filter((each) => each >= index);
      const key = layout.shard(account, plan.header.run_id, index);
      const keeper = {
        planSha256: plan.header.sha256,
        restAfter: (error: unknown) => {
          const hasNews = results.fetched > 0 || untaken.length > 0;
          return hasNews && leavesUnfinished(error)
            ? results.rest(untaken, eventsOfShards(unstaged, plan.shard))
            : undefined;
        },
        keep: (broken: PartialShard) => keepPartialShard({ store, logger, account, work, unstaged }, broken),
      };
      const leftOut = await writeShard(store, key, index, results, keeper, (block) =>
        build.blockStaged(block),
      );
      timeBudget.endUnit();
      build.shardStaged(index, leftOut);
    }
    gate.throwIfClosed();
  } finally {
    end.abort(); // after a failure of the store, a result still in flight would delay the return
    await fetched.return();
    await kept.close();
  }
}

function* eventsOfShards(
  shards: Iterable<number>,
  eventsOf: (index: number) => readonly PlannedEvent[],
): Generator<PlannedEvent> {
  for (const index of shards) yield* eventsOf(index);
}

/** Not a lost lease: another process works on this run, and keeps its own work. */
function leavesUnfinished(error: unknown): boolean {
  return error instanceof SyncError && error.isRetryable;
}
