// The events about an account that are no end of a run: a run has begun, and the fields of events have changed.

import { type FieldChanges, shownPointer, typesOf } from "../../snapshot/fields/field-changes.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { RunLogEntry, Trigger } from "./run-log.ts";

type DetailValue =
  | string
  | number
  | boolean
  | null
  | readonly DetailValue[]
  | { readonly [key: string]: DetailValue };

/** What goes to a bus of events. */
export interface BusEvent {
  readonly detailType: string;
  readonly detail: { readonly [key: string]: DetailValue };
}

/** A run that has begun to work: it has the lease, and opens the service. */
export interface StartedRun {
  readonly runId: string;
  readonly trigger: Trigger;
  readonly startedAtMs: number;
}

/**
 * The fields of one kind, in bytes of JSON. EventBridge refuses an event of more than 256 KB (the three kinds, and what
 * is around them), and a pointer can be long.
 */
const MAX_KIND_BYTES = 64 * 1024;

/** Sent at least once: a run that crashes before it has a plan begins again. */
export function startedEvent(account: string, { runId, trigger, startedAtMs }: StartedRun): BusEvent {
  const started_at = new Date(startedAtMs).toISOString();
  return {
    detailType: "Run Started",
    detail: { account, run_id: runId, snapshot_id: null, trigger, started_at },
  };
}

/**
 * Undefined where nothing has changed. Sent at least once, as the event of the publication is: consumers identify both
 * by account and publication.
 */
export function fieldsChangedEvent(
  account: string,
  { run_id, snapshot_id, trigger }: Pick<RunLogEntry, "run_id" | "snapshot_id" | "trigger">,
  { publication, base_snapshot_id }: Publication,
  { added, gone, retyped }: FieldChanges,
): BusEvent | undefined {
  if (added.length + gone.length + retyped.length === 0) return undefined;
  const typed = (field: FieldChanges["added"][number]): DetailValue => ({
    pointer: shownPointer(field.pointer),
    types: typesOf(field),
  });
  return {
    detailType: "Fields Changed",
    detail: {
      ...{ account, run_id, snapshot_id, trigger, publication, base_snapshot_id },
      new: counted(added.map(typed)),
      gone: counted(gone.map(typed)),
      changed_type: counted(
        retyped.map(({ pointer, before, after }) => ({ pointer: shownPointer(pointer), before, after })),
      ),
    },
  };
}

/** The count is of all; of the fields as many as there is room for. */
function counted(fields: readonly DetailValue[]): DetailValue {
  let bytes = 0;
  const fitting = fields.filter((field) => {
    bytes += Buffer.byteLength(JSON.stringify(field)) + 1;
    return bytes <= MAX_KIND_BYTES;
  });
  return { count: fields.length, fields: fitting };
}
