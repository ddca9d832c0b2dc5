// Reads a sample of the events: which fields they have, and which fields are worth a column.

import { SyncError } from "../errors/sync-error.ts";
import { hasDuplicateKeys } from "../json/json-scanner.ts";
import {
  noneReadable,
  readListOnce,
  readOne,
  sayUnread,
  spread,
  type Unread,
} from "../run/collect/read-list.ts";
import { withLease } from "../run/open-account.ts";
import { type WarehouseColumn, warehouseColumns } from "../run/publish/columns.ts";
import type { Skipped } from "../run/record/run-result.ts";
import type { HostPorts, RunHooks, RunPorts, WarehousePorts, WorldPorts } from "../run/run-ports.ts";
import type { RunSettings } from "../run/run-settings.ts";
import { mapOrdered } from "../runtime/map-ordered.ts";
import type { Detail, EventService, ListDoubt, ListedEvent } from "../service/event-service.ts";
import type { LiftedColumn } from "../settings/lifted-column.ts";
import { type Field, FieldProfiler } from "../snapshot/fields/field-profile.ts";
import type { LeftOutReason } from "../snapshot/files/manifest.ts";
import { arraysLeftOut, suggestColumns, TextTypes } from "../snapshot/rows/suggest-columns.ts";

export interface Discovery {
  readonly listed: number;
  /** Events whose details were read. */
  readonly events: number;
  /** Events of the sample whose details were not, by reason. */
  readonly leftOut: Readonly<Partial<Record<LeftOutReason, number>>>;
  readonly fields: readonly Field[];
  /** Events of which an object has a key twice. */
  readonly duplicateKeys: number;
  /** False where events have more fields than are counted. */
  readonly isComplete: boolean;
  /** The lifted columns that a run has without these suggestions; without a type they have the one that fits the sample. */
  readonly columns: readonly WarehouseColumn[];
  readonly suggestions: readonly LiftedColumn[];
  /** Columns of both kinds whose texts look like numbers, with the type that those have. */
  readonly numbers: readonly LiftedColumn[];
  /** The arrays that no column can hold. */
  readonly arrays: readonly string[];
  /** Why the list may be a part only. */
  readonly doubt: ListDoubt | undefined;
}

export const DEFAULT_SAMPLE = 50;

/** A sample uses little of the budget. */
export const MAX_SAMPLE = 500;

/**
 * Reads at most `limit` events, spread evenly over the list. Writes nothing but the lease, which it holds meanwhile.
 * Throws `CONFIG_INVALID` for a limit above `MAX_SAMPLE`.
 */
export async function discover(
  ports: RunPorts,
  settings: RunSettings,
  limit: number,
): Promise<Discovery | Skipped> {
  if (limit > MAX_SAMPLE) throw tooLarge(limit);
  return withLease(ports, settings, "discover", async (open, leased) => {
    const columns = await presentColumns(leased, settings);
    const service = await open();
    try {
      return await readSample(service, leased, settings.concurrency, limit, columns);
    } finally {
      await service.close();
    }
  });
}

function withType(column: WarehouseColumn, types: TextTypes): WarehouseColumn {
  const [pointer, another] = column.pointers;
  const isTyped = column.type !== undefined || pointer === undefined || another !== undefined;
  return isTyped ? column : { ...column, type: types.typeAt(pointer) };
}

async function presentColumns(
  ports: WarehousePorts,
  { lifted }: RunSettings,
): Promise<readonly WarehouseColumn[]> {
  if (lifted.length > 0)
    return lifted.map(({ name, pointer, type }) => ({ name, pointers: [pointer], isOwn: true, type }));
  return warehouseColumns(ports);
}

async function readSample(
  service: EventService,
  ports: WorldPorts & HostPorts & RunHooks,
  concurrency: number,
  limit: number,
  columns: readonly WarehouseColumn[],
): Promise<Discovery> {
  const list = await readListOnce(service, ports.signal, (warning) => ports.logger.warn(warning));
  const sample = spread(list.events, limit);
  const fetchOne = async (event: ListedEvent, stop: AbortSignal): Promise<Fetched> => ({
    event,
    detail: await readOne(service, event, stop),
  });
  const details = mapOrdered(sample, fetchOne, {
    concurrency,
    weigh: ({ detail }) => (detail.kind === "event" ? detail.event.length : 0),
    signal: ports.signal,
  });
  const profiler = new FieldProfiler();
  const types = new TextTypes();
  const leftOut: Partial<Record<LeftOutReason, number>> = {};
  let events = 0;
  let duplicateKeys = 0;
  let tried = 0;
  let read: ListedEvent | undefined;
  const unread: Unread[] = [];
  for await (const { event, detail } of details) {
    tried += 1;
    ports.onProgress({ done: tried, total: sample.length, retries: service.counts.retries });
    if (detail.kind === "unread") {
      unread.push(detail);
      leftOut.unreadable = unread.length;
      continue;
    }
    if (detail.kind !== "event") {
      leftOut[detail.reason] = (leftOut[detail.reason] ?? 0) + 1;
      continue;
    }
    events += 1;
    read ??= event;
    profiler.add(detail.value);
    types.add(detail.event);
    if (hasDuplicateKeys(detail.event)) duplicateKeys += 1;
  }
  await sayUnread(service, unread, read, ports.signal, (problem) => ports.logger.warn(problem));
  if (tried > 0 && events === 0) throw noneReadable(tried, leftOut.gone);
  const { fields, fields_complete } = profiler.profile();
  const suggestions = suggestColumns(fields, events, columns, (pointer) => types.typeAt(pointer));
  const present = columns.map(({ pointers, ...column }) => ({ ...column, pointer: pointers[0] ?? "" }));
  return {
    listed: list.events.length + list.rejected,
    events,
    leftOut,
    fields,
    duplicateKeys,
    isComplete: fields_complete,
    columns: columns.map((column) => withType(column, types)),
    suggestions,
    numbers: [...present, ...suggestions].flatMap(({ name, pointer, type }) => {
      const ofNumber = type === undefined ? types.numberAt(pointer) : undefined;
      return ofNumber === undefined ? [] : [{ name, pointer, type: ofNumber }];
    }),
    arrays: arraysLeftOut(fields, events, [
      ...columns,
      ...suggestions.map(({ name, pointer }) => ({ name, pointers: [pointer] })),
    ]),
    doubt: list.doubt,
  };
}

interface Fetched {
  readonly event: ListedEvent;
  readonly detail: Detail | Unread;
}

function tooLarge(limit: number): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `discover reads a sample of at most ${MAX_SAMPLE} events, and the limit is ${limit}.`,
    { fields: { limit }, next: `Set a limit of ${MAX_SAMPLE} or less.` },
  );
}
