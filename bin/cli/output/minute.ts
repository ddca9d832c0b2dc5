// Instants and ages as people read them.

import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";

/** `2026-11-21 06:00 UTC`. Logs are files, so an instant in them may be none. */
export function minute(instantMs: number): string {
  if (Number.isNaN(instantMs)) return "unknown";
  return `${new Date(instantMs).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** `2 h 5 min ago`. */
export function age(instantMs: number, nowMs: number): string {
  return instantMs > nowMs
    ? "in the future by this machine's clock"
    : `${durationText(nowMs - instantMs)} ago`;
}
