// Fetches random events of the head again and says how many are still what readers see.

import { SyncError } from "../../errors/sync-error.ts";
import { changedPointers } from "../../json/changed-pointers.ts";
import type { Detail } from "../../service/event-service.ts";
import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { addDamagedHeadRemedy } from "../../snapshot/files/add-damaged-head-remedy.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { type Publication, readHead } from "../../storage/publication-log.ts";
import { formatRunId } from "../../storage/run-id.ts";
import { EstimateNotice } from "../collect/estimate-notice.ts";
import { mapOrdered } from "../collect/map-ordered.ts";
import type { Skipped } from "../lease/skipped.ts";
import { type OpenService, withLease } from "../lease/with-lease.ts";
import { countText } from "../record/count-text.ts";
import { durationText } from "../record/duration-text.ts";
import { recordAttempt, startNow } from "../record/record-attempt.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { NO_COUNTS, type RunEnd, type RunFailure, type RunState } from "../run-state.ts";
import { type SampledEvent, sampleEvents } from "./sample-events.ts";
import { type Verdict, Verdicts } from "./verdicts.ts";

export interface Verified {
  readonly head: Publication;
  /** How many events were fetched again. */
  readonly sample: number;
  readonly counts: Verdicts["counts"];
  readonly first: Verdicts["first"];
}

/** For what follows the last event. */
const RESERVE_MS = 30_000;

interface Task {
  readonly ports: RunPorts;
  readonly settings: RunSettings;
  readonly head: Publication;
  readonly size: number;
  readonly state: RunState;
}

/**
 * Holds the lease meanwhile, and writes a line of the run log. Returns why it did not begin where another process works
 * on the account. Throws `SNAPSHOT_NOT_FOUND` where nothing is published, and what a run throws.
 */
export async function verify(
  ports: RunPorts,
  settings: RunSettings,
  size: number,
): Promise<Verified | Skipped> {
  const { account } = settings;
  const head = await readHead(ports.store, account);
  if (head === undefined) throw nothingPublished(account);
  const started = startNow(ports.clock);
  const runId = formatRunId(started.atMs);
  ports.onRunId?.(runId);
  const state: RunState = { runId, snapshotId: head.snapshot_id, counts: NO_COUNTS, service: undefined };
  const task = { ports, settings, head, size, state };
  const found = await withLease(ports, settings, "verify", (open, leased, budget) =>
    compareSample({ ...task, ports: leased }, open, budget),
  ).catch(
    (error: unknown): RunFailure => ({
      error: ports.signal.aborted ? ports.signal.reason : addDamagedHeadRemedy(error, account),
    }),
  );
  const end: RunEnd | RunFailure =
    "error" in found || "outcome" in found ? found : { outcome: "DRY_RUN", reason: null };
  const { error } = await recordAttempt({ ports, account, trigger: "verify", started, state }, end);
  if (error) throw error;
  if ("error" in found) throw found.error;
  return found;
}

async function compareSample(task: Task, open: OpenService, budget: RateLimiter): Promise<Verified> {
  const { ports, settings, head, size, state } = task;
  const manifest = await readManifest(ports.store, settings.account, head.snapshot_id);
  const sample = Math.min(size, manifest.counts.events);
  refuseTooLong(sample, budget, ports);
  const service = await open();
  state.service = () => service.counts;
  const notice = new EstimateNotice(budget, ports.logger);
  const verdicts = new Verdicts();
  const report = (): void => {
    state.counts = verdicts.asCounts();
    ports.onProgress({ done: verdicts.total, total: sample, retries: service.counts.retries });
  };
  const proceed = (): void => {
    ports.signal.throwIfAborted();
    if (workMs(ports) < 0) throw outOfTime(verdicts.total, sample);
  };
  const fetchAgain = async (sampled: SampledEvent, stop: AbortSignal) => ({
    uuid: sampled.uuid,
    verdict: verdictOf(sampled, await service.detail(sampled.requestAs, stop)),
  });
  const { concurrency } = settings;
  // What waits to be taken is a verdict, not a text.
  const ahead = Math.max(64, concurrency * 4);
  const bounds = { concurrency, ahead, maxWeight: sample, weigh: () => 1, signal: ports.signal };
  try {
    notice.begin(sample);
    report();
    for await (const events of sampleEvents(ports.store, manifest, { size, random: ports.random, proceed })) {
      for await (const { uuid, verdict } of mapOrdered(events, fetchAgain, bounds)) {
        verdicts.add(uuid, verdict);
        notice.done(sample - verdicts.total);
        report();
        if (verdicts.total < sample) proceed();
      }
    }
  } finally {
    await service.close();
  }
  return { head, sample, counts: verdicts.counts, first: verdicts.first };
}

function verdictOf({ event }: SampledEvent, detail: Detail): Verdict {
  if (detail.kind === "left-out") return detail.reason;
  return changedPointers(event, detail.event).length === 0 ? "same" : "changed";
}

function nothingPublished(account: string): SyncError {
  return new SyncError(
    "SNAPSHOT_NOT_FOUND",
    `Nothing is published for the account ${account} yet, so there is nothing to verify. Make a snapshot with run first.`,
    { fields: { account } },
  );
}

/** The time left for requests, in milliseconds; without a time limit it is infinite. */
function workMs({ timeLeftMs, reserveMs = RESERVE_MS }: RunPorts): number {
  return timeLeftMs === undefined ? Number.POSITIVE_INFINITY : timeLeftMs() - reserveMs;
}

/** Refused at once, not after half of the sample. */
function refuseTooLong(sample: number, budget: RateLimiter, ports: RunPorts): void {
  const neededMs = budget.waitMs(sample);
  const leftMs = workMs(ports);
  if (neededMs <= leftMs) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `A sample of ${countText(sample)} events takes about ${durationText(neededMs)} within the budget, and this invocation has ${durationText(leftMs)} left. Take a smaller sample, or use verify on the command line, which has no time limit.`,
    { fields: { sample } },
  );
}

function outOfTime(done: number, sample: number): SyncError {
  return new SyncError(
    "INTERRUPTED",
    `The time limit was reached after ${countText(done)} of ${countText(sample)} events. Take a smaller sample, or use verify on the command line, which has no time limit.`,
  );
}
