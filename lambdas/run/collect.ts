// COLLECT: fetches the details of a plan, N at once, and stages them shard by shard in plan order.

import type { EventService } from "../service/event-service.ts";
import { lifter } from "../snapshot/lift.ts";
import type { LiftedColumn } from "../snapshot/lifted-column.ts";
import type { Plan, PlannedEvent } from "../snapshot/plan.ts";
import { rowLine } from "../snapshot/row.ts";
import { fitsRow } from "../snapshot/row-size.ts";
import { type StagedResult, writeShard } from "../snapshot/shard.ts";
import { layout } from "../storage/layout.ts";
import type { Store } from "../storage/store.ts";
import { Edge } from "./edge.ts";
import { mapOrdered } from "./ordered.ts";
import { outOfTime, type Pace } from "./pace.ts";

/** Finished rows that may wait for an older one, in UTF-16 code units: bounds memory to about twice that. */
const MAX_WAITING_TEXT = 16 * 1024 * 1024;

export interface FetchOptions {
  readonly service: EventService;
  readonly concurrency: number;
  readonly lifted: readonly LiftedColumn[];
  readonly signal: AbortSignal;
}

/** The results of `events` in their order: a row's line, or why there is none. */
export function fetchResults(
  events: Iterable<PlannedEvent>,
  options: FetchOptions,
): AsyncGenerator<StagedResult, void, undefined> {
  const { service, concurrency, signal } = options;
  const lift = lifter(options.lifted);
  const fetchOne = async (planned: PlannedEvent, stop: AbortSignal): Promise<StagedResult> => {
    const { uuid, requestAs, listing, isOversize } = planned;
    if (isOversize) return { uuid, leftOut: "oversize" };
    const detail = await service.detail(requestAs, stop);
    if (detail.kind === "left-out") return { uuid, leftOut: detail.reason };
    const { eventDate, scope, event } = detail;
    const row = { uuid, event_date: eventDate, scope, event, listing };
    const lifted = lift(event);
    if (!fitsRow({ ...row, ...lifted })) return { uuid, leftOut: "oversize" };
    return { uuid, line: rowLine(row, lifted) };
  };
  return mapOrdered(events, fetchOne, {
    concurrency,
    ahead: Math.max(64, concurrency * 4),
    maxWeight: MAX_WAITING_TEXT,
    weigh: (result) => ("line" in result ? result.line.length : 0),
    signal,
  });
}

export interface CollectOptions extends FetchOptions {
  readonly store: Store;
  readonly account: string;
  readonly plan: Plan;
  /** Indices of shards that an earlier attempt has staged. */
  readonly staged: ReadonlySet<number>;
  readonly pace: Pace;
  readonly onDone: () => void;
}

/**
 * Stages every shard that is missing. One stream of requests runs through all of them, without a stop between
 * shards. Throws `INTERRUPTED` at a shard's edge, with nothing fetched beyond it, where the time left does not cover
 * the next one.
 */
export async function collect(options: CollectOptions): Promise<void> {
  const { store, account, plan, staged, pace, onDone } = options;
  const missing = Array.from({ length: plan.shards }, (_, index) => index).filter((i) => !staged.has(i));
  const edge = new Edge(plan, pace);
  const results = fetchResults(eventsOf(plan, missing, edge), options);
  const onTaken = (): void => {
    edge.taken();
    onDone();
  };
  try {
    for (const index of missing) {
      if (!edge.mayBegin(index)) throw outOfTime(edge.describe(missing));
      const shard = new Slice(results, plan.shard(index).length, onTaken);
      await writeShard(store, layout.shard(account, plan.header.run_id, index), index, shard);
      for await (const _ of shard); // a store that knows early that the key is taken leaves results untaken
      pace.endUnit();
    }
  } finally {
    await results.return();
  }
}

function* eventsOf(plan: Plan, shards: readonly number[], edge: Edge): Generator<PlannedEvent> {
  for (const index of shards) {
    if (!edge.mayBegin(index)) return;
    yield* plan.shard(index);
  }
}

/** The next `count` values of a generator that stays open for the ones after. */
class Slice<T> implements AsyncIterable<T> {
  readonly #values: AsyncGenerator<T, void>;
  readonly #onTaken: () => void;
  #left: number;

  constructor(values: AsyncGenerator<T, void>, count: number, onTaken: () => void) {
    this.#values = values;
    this.#left = count;
    this.#onTaken = onTaken;
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void> {
    return { next: () => this.#next() };
  }

  async #next(): Promise<IteratorResult<T, void>> {
    if (this.#left === 0) return { done: true, value: undefined };
    this.#left -= 1;
    const next = await this.#values.next();
    if (next.done !== true) this.#onTaken();
    return next;
  }
}
