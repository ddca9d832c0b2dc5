// What the event about a held snapshot says beside its reason: what publishing it would do, and how to decide.

import type { RunLogEntry } from "../record/run-log.ts";
import { ifNotAccepted } from "./if-not-accepted.ts";
import type { Preview } from "./preview.ts";

/** To be pasted into a shell as they are. */
export interface HeldCommands {
  /** Publishes the snapshot. */
  readonly accept: string;
  /** Shows what that would change. */
  readonly diff: string;
}

type Missing = "gone" | "forbidden" | "rejected" | "oversize" | "too_deep";

/** Counts that are not known are null. */
export type HeldDetail = Omit<Preview, Missing> &
  Readonly<Record<Missing, number | null>> & {
    readonly accept_command: string | null;
    readonly diff_command: string | null;
    readonly wait: string;
  };

export function heldDetail(
  { reason, gone, forbidden, rejected }: Pick<RunLogEntry, "reason" | "gone" | "forbidden" | "rejected">,
  preview: Preview | undefined,
  commands: HeldCommands | undefined,
): HeldDetail {
  return {
    ...(preview ?? { ...UNKNOWN, gone, forbidden, rejected }),
    accept_command: commands?.accept ?? null,
    diff_command: commands?.diff ?? null,
    wait: ifNotAccepted(reason),
  };
}

const UNKNOWN = {
  base_snapshot_id: null,
  added: null,
  changed: null,
  removed: null,
  oversize: null,
  uuids: { added: [], changed: [], removed: [], gone: [], forbidden: [], oversize: [], too_deep: [] },
  too_deep: null,
} as const;
