// What a snapshot is built from.

import type { Plan } from "../../snapshot/staging/plan.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

export interface BuildTask {
  readonly ports: Pick<RunPorts, "store" | "clock" | "signal" | "version">;
  readonly settings: Pick<
    RunSettings,
    "account" | "lifted" | "require" | "baseUrl" | "isListed" | "listPointer" | "detailPointer"
  >;
  readonly plan: Plan;
  /** What the snapshot will be compared with, unless the head changes until then. */
  readonly base: string | null;
  /** Whether the snapshot is built while its events are collected. */
  readonly isAhead: boolean;
}
