// What a run knows about itself while it works, and how an attempt ends.

import type { ServiceCounts } from "../service/requests/sender.ts";
import type { Manifest } from "../snapshot/files/manifest.ts";
import type { Publication } from "../storage/publication-log.ts";
import type { Preview } from "./compare/preview.ts";
import type { Outcome } from "./record/run-log.ts";

/** Updated while the attempt works, so that a failed one still reports how far it got. */
export interface RunState {
  /** Changes when a manual start adopts an unfinished run. */
  runId: string;
  snapshotId: string | null;
  counts: SnapshotCounts;
  service: (() => ServiceCounts) | undefined;
  /** The number of the publication, once there is one: nothing that fails after it takes it back. */
  publication?: string;
}

export interface SnapshotCounts {
  readonly listed: number | null;
  readonly events: number | null;
  readonly added: number | null;
  readonly changed: number | null;
  readonly removed: number | null;
  readonly gone: number | null;
  readonly forbidden: number | null;
  readonly rejected: number | null;
  readonly repeated: number | null;
}

export const NO_COUNTS: SnapshotCounts = {
  listed: null,
  events: null,
  added: null,
  changed: null,
  removed: null,
  gone: null,
  forbidden: null,
  rejected: null,
  repeated: null,
};

/** How an attempt ended without an error. */
export interface RunEnd {
  readonly outcome: Exclude<Outcome, "FAILED">;
  readonly reason: string | null;
  /** For a person: why it was held, skipped or handed over, and what to do. */
  readonly explanation?: string;
  /** What publishing the snapshot would do; only where the outcome is `HELD`. */
  readonly preview?: Preview;
  /** The first values of each column of one's own; only of a dry run. */
  readonly columns?: readonly ColumnSample[];
  /** Present exactly when the outcome is `HANDED_OVER`. */
  readonly handedOver?: HandOver;
}

interface ColumnSample {
  readonly name: string;
  readonly pointer: string;
  readonly values: readonly string[];
}

/** What continues a run whose attempt stopped early. */
interface HandOver {
  /** The ARN of the execution. */
  readonly execution: string;
  /** How long the budget gives nothing useful, in milliseconds. */
  readonly waitMs: number;
}

/** An attempt that failed. */
export interface RunFailure {
  readonly error: unknown;
}

export function countsOf(manifest: Manifest, publication?: Publication): SnapshotCounts {
  const { listed, events, gone, forbidden, rejected, repeated } = manifest.counts;
  const { added = null, changed = null, removed = null } = publication ?? {};
  return { listed, events, added, changed, removed, gone, forbidden, rejected, repeated };
}
