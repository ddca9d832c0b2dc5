// Whether a clock is wrong, and whose: this computer's, or the one that named what readers see.

import { SyncError, TRUST_CLOCK } from "../errors/sync-error.ts";
import { isFuture } from "../runtime/clock.ts";
import { runInstant } from "../storage/layout.ts";
import type { LogEnd } from "../storage/publication-log.ts";

/** A service that is wrong by some hours stops no run. */
const FAR_AHEAD_MS = 36 * 60 * 60_000;
/** `Date` has whole seconds (RFC 9110 §5.6.7). */
const DATE_MS = 1_000;

interface Clocks {
  readonly nowMs: number;
  /** How far this computer's clock is ahead of the service's, where that is known. */
  readonly aheadMs: number | undefined;
  readonly end: Pick<LogEnd, "head" | "removal">;
}

/** `CLOCK_WRONG`, which names the decision where it helps; undefined where a run may publish. */
export function wrongClock({ nowMs, aheadMs, end }: Clocks): SyncError | undefined {
  const serviceMs = aheadMs === undefined ? undefined : nowMs - aheadMs;
  const own = `This computer's clock shows ${instant(nowMs)}`;
  if (serviceMs !== undefined && nowMs - serviceMs > FAR_AHEAD_MS)
    return clockWrong(
      `${own}, and the service's ${instant(serviceMs)}. Set this computer's clock, and run again. ${TRUST_CLOCK}`,
    );
  const later = end.head?.snapshot_id ?? end.removal?.run_id ?? "";
  if (!liesInFuture(later, nowMs)) return undefined;
  const what = end.head
    ? `The snapshot ${later}, which readers see, lies in the future`
    : `The account was removed at ${later}, which lies in the future`;
  if (serviceMs !== undefined && serviceMs + DATE_MS > (runInstant(later) ?? 0))
    return clockWrong(
      `${own}, and the service's ${instant(serviceMs)}, so this computer's clock is behind. ${what} for it only. Set the clock, and run again.`,
    );
  return clockWrong(`${own}. ${what}: a clock was ahead, and no run is later. ${TRUST_CLOCK}`);
}

/** @param runId of a run or of a snapshot */
export function liesInFuture(runId: string, nowMs: number): boolean {
  return isFuture(runInstant(runId) ?? 0, nowMs);
}

function clockWrong(message: string): SyncError {
  return new SyncError("CLOCK_WRONG", message);
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
