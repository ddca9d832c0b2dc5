// The first half of PUBLISH: the staged ranges of a plan become the parts of a snapshot, with left-out list and manifest.

import { advise, command } from "../../errors/advice.ts";
import { damaged, SyncError } from "../../errors/sync-error.ts";
import { isAnswered } from "../../service/event-service.ts";
import {
  FieldProfiler,
  type Incomplete,
  type Profile,
  RequiredFields,
} from "../../snapshot/fields/field-profile.ts";
import { countReasons, createManifest, type Manifest, writeLeftOut } from "../../snapshot/files/manifest.ts";
import { verifyFile } from "../../snapshot/files/parts.ts";
import { checkListed } from "../../snapshot/files/verify-snapshot.ts";
import { eventColumns } from "../../snapshot/rows/lifted-column.ts";
import { parseRow } from "../../snapshot/rows/row.ts";
import type { Chain, RangeRecord, RangeRows } from "../../snapshot/staging/chain.ts";
import { batches } from "../../storage/batches.ts";
import type { TimeBudget } from "../collect/time-budget.ts";
import type { HostPorts, WarehousePorts, WorldPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

/** A session, while it builds. */
export interface BuildSession {
  readonly ports: WorldPorts & WarehousePorts & HostPorts;
  readonly settings: Pick<
    RunSettings,
    "lifted" | "baseUrl" | "isListed" | "listPointer" | "nextPage" | "detailPointer"
  >;
  readonly timeBudget: TimeBudget;
  hasAdvanced: boolean;
}

/** Parts that get their names at the same time. */
const AT_ONCE = 8;

/**
 * Verifies the ranges of a complete chain that `facts` has not counted, and names the rows of all of them. A part that
 * exists already is verified and taken, and so is a manifest. Throws `StoppedEarly` between two files, `STORE_CORRUPT`,
 * also where that manifest is of another snapshot, and `SNAPSHOT_INCOMPLETE`.
 */
export async function buildSnapshot(
  session: BuildSession,
  chain: Chain,
  facts: SnapshotFacts,
): Promise<Manifest> {
  const { ports, settings, timeBudget } = session;
  const { store, signal } = ports;
  const { run_id: runId, events: planned, doubt, ...header } = chain.plan.header;
  const proceed = (): void => {
    signal.throwIfAborted();
    timeBudget.checkTime(`all ${planned} events are staged`);
  };
  for (const record of chain.records) {
    if (facts.hasCounted(record.place)) continue;
    proceed();
    await countRange(chain, record, facts);
  }

  const staged = chain.records.flatMap(({ rows }) => rows ?? []);
  const parts = staged.map(({ file: _, stored: __, ...content }, index) => {
    const key = store.keys.part(runId, index);
    return { file: key.slice(key.lastIndexOf("/") + 1), ...content };
  });
  const name = async ([index, rows]: readonly [number, RangeRows]): Promise<void> => {
    const key = store.keys.part(runId, index);
    if (await store.copy(chain.keyOf(rows), key)) session.hasAdvanced = true;
    else await verifyFile(store, key, rows, proceed);
  };
  for (const batch of batches(staged.entries(), AT_ONCE)) {
    proceed();
    await Promise.all(batch.map(name));
  }
  const leftOut = chain.records.flatMap(({ left_out }) => left_out);
  const left = countReasons(leftOut.map(({ reason }) => reason));
  const events = parts.reduce((sum, { rows }) => sum + rows, 0);
  if (events + leftOut.length !== planned) throw incomplete(planned, events, leftOut.length);
  const leftOutFile = await writeLeftOut(store, store.keys.leftOut(runId), leftOut);
  const stored = staged.map((rows) => rows.stored);
  await checkListed(store, store.keys.snapshot(runId), { parts, stored });
  return createManifest(store, store.keys.manifest(runId), {
    version: 1,
    account: store.account,
    snapshot_id: runId,
    run_id: runId,
    fingerprint: header.fingerprint,
    plan_sha256: header.sha256,
    ...(header.log_end === undefined ? {} : { log_end: header.log_end }),
    counts: {
      listed: header.listed,
      events,
      ...left,
      rejected: header.rejected + left.oversize + left.too_deep + left.unreadable,
      repeated: header.repeated,
    },
    parts,
    stored,
    columns: eventColumns(settings.lifted),
    lifted: settings.lifted.map(({ name, pointer, type, typedBy = runId }) =>
      type === undefined ? { name, pointer } : { name, pointer, type, typed_by: typedBy },
    ),
    ...facts.profile,
    started_at: header.created_at,
    finished_at: new Date(ports.clock.now()).toISOString(),
    program: { name: "brand-events-sync", version: ports.version },
    settings: {
      base_url: settings.baseUrl,
      is_listed: settings.isListed,
      list_pointer: settings.listPointer ?? null,
      ...(settings.nextPage === undefined ? {} : { next_page: settings.nextPage }),
      detail_pointer: settings.detailPointer ?? null,
    },
    ...(leftOutFile ? { left_out: leftOutFile } : {}),
    // A person may have answered it since the plan was made.
    ...(doubt && !isAnswered(doubt, settings.nextPage) ? { doubt } : {}),
  });
}

async function countRange(chain: Chain, record: RangeRecord, facts: SnapshotFacts): Promise<void> {
  await chain.verify(record, (line, key) => {
    try {
      const { event } = parseRow(line);
      facts.add(event, JSON.parse(event));
    } catch (error) {
      if (!(error instanceof SyntaxError || error instanceof SyncError)) throw error;
      // The parser's own error quotes the line.
      throw damaged(key, "it holds a row that cannot be read", "Start again.");
    }
  });
}

function incomplete(planned: number, events: number, leftOut: number): SyncError {
  return new SyncError(
    "SNAPSHOT_INCOMPLETE",
    `Of ${planned} planned events ${events} have a row and ${leftOut} were left out: they do not add up, so nothing is published.`,
    {
      fields: { planned, events, left_out: leftOut },
      next: advise`Begin a new run: ${command("run", { decision: "fresh" })}.`,
    },
  );
}

/**
 * Rows come in any order: while they are fetched, and of ranges that other processes have recorded when these are
 * verified.
 */
export class SnapshotFacts {
  readonly #require: readonly string[];
  /** Places of the ranges whose rows are counted. */
  #counted = new Set<number>();
  #fields = new FieldProfiler();
  #required: RequiredFields;

  constructor(require: readonly string[]) {
    this.#require = require;
    this.#required = new RequiredFields(require);
  }

  /** @param value of the event's text, as `JSON.parse` gives it */
  add(event: string, value: unknown): void {
    this.#fields.add(value);
    this.#required.add(event);
  }

  /** All rows of the range that begins at this place are counted. */
  markCounted(place: number): void {
    this.#counted.add(place);
  }

  hasCounted(place: number): boolean {
    return this.#counted.has(place);
  }

  /** Some rows were counted that the snapshot does not have: everything is counted again. */
  beginAgain(): void {
    this.#counted = new Set();
    this.#fields = new FieldProfiler();
    this.#required = new RequiredFields(this.#require);
  }

  get profile(): Profile {
    return this.#fields.profile();
  }

  get incomplete(): Incomplete {
    return this.#required.incomplete;
  }
}
