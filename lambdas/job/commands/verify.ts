// Fetches random events of the head again and says how many are still what readers see.

import * as z from "zod";
import { addRestart, SyncError } from "../errors/sync-error.ts";
import { changedPointers } from "../json/json-pointers.ts";
import { mapOrdered } from "../run/collect/map-ordered.ts";
import { checkTimeLeft, sayEstimate, workMs } from "../run/collect/time-budget.ts";
import { type OpenService, withLease } from "../run/lease/lease-account.ts";
import { beginAttempt, NO_COUNTS, recordAttempt, type SnapshotCounts } from "../run/record/attempt.ts";
import type { RunEnd, RunFailure, Skipped } from "../run/record/run-result.ts";
import { countText, remainingText } from "../run/record/texts.ts";
import type { RunPorts } from "../run/run-ports.ts";
import type { RunSettings } from "../run/run-settings.ts";
import type { Random } from "../runtime/clock.ts";
import type { Detail } from "../service/event-service.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import { wholeNumber } from "../settings/values.ts";
import { type Manifest, readManifest } from "../snapshot/files/manifest.ts";
import { readParts } from "../snapshot/files/parts.ts";
import { parseRow } from "../snapshot/rows/row.ts";
import type { LeftOutReason } from "../snapshot/staging/chain.ts";
import { type Publication, readHead } from "../storage/publication-log.ts";
import type { AccountStore } from "../storage/store.ts";

export const DEFAULT_VERIFIED = 100;

/** At the default budget almost an hour, in which no run of the account can start. */
const MAX_VERIFIED = 10_000;

/** How many uuids of a verdict are shown at most. */
export const MOST_NAMED = 10;

export const sampleSize = wholeNumber(1, MAX_VERIFIED);

/** `gone` for 404 and 410, `forbidden` for 403, `oversize` for a detail over the cap, `too_deep` for too many levels. */
type Verdict = "same" | "changed" | LeftOutReason;

export interface Verified {
  readonly head: Publication;
  /** How many events were fetched again. */
  readonly sample: number;
  /** The events of each verdict, by uuid. */
  readonly uuids: Readonly<Record<Verdict, readonly string[]>>;
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
  const { concurrency } = settings;
  const head = await readHead(ports.store);
  if (head === undefined) throw nothingPublished(ports.store.account);
  const attempt = beginAttempt(ports.clock, "verify");
  attempt.snapshotId = head.snapshot_id;
  ports.onRunId?.(attempt.runId);
  const compareSample = async (
    open: OpenService,
    leased: RunPorts,
    budget: RateLimiter,
  ): Promise<Verified> => {
    const { store, random, signal, logger } = leased;
    const manifest = await readManifest(store, head.snapshot_id);
    const sample = Math.min(size, manifest.counts.events);
    refuseTooLong(sample, budget, leased);
    const service = await open();
    attempt.service = service;
    const uuids: Record<Verdict, string[]> = {
      ...{ same: [], changed: [] },
      ...{ gone: [], forbidden: [], oversize: [], too_deep: [], unreadable: [] },
    };
    let done = 0;
    const report = (): void => {
      attempt.counts = asCounts(uuids);
      leased.onProgress({ done, total: sample, retries: service.counts.retries });
    };
    const proceed = (): void => checkTimeLeft(leased, () => outOfTime(done, sample));
    const fetchAgain = async (sampled: SampledEvent, stop: AbortSignal) => ({
      uuid: sampled.uuid,
      verdict: verdictOf(sampled, await service.detail(sampled.requestAs, stop)),
    });
    try {
      const sayLeft = sayEstimate(sample, budget, logger);
      report();
      for await (const events of sampleEvents(store, manifest, { size, random, proceed })) {
        for await (const { uuid, verdict } of mapOrdered(events, fetchAgain, { concurrency, signal })) {
          uuids[verdict].push(uuid);
          done += 1;
          sayLeft(sample - done);
          report();
          if (done < sample) proceed();
        }
      }
    } finally {
      await service.close();
    }
    return { head, sample, uuids };
  };
  const found = await withLease(ports, settings, "verify", compareSample).catch(
    (error: unknown): RunFailure => ({
      error: ports.signal.aborted ? ports.signal.reason : addRestart(error),
    }),
  );
  const end: RunEnd | RunFailure =
    "error" in found || "outcome" in found ? found : { outcome: "DRY_RUN", reason: null };
  const { error } = await recordAttempt(ports, attempt, end);
  if (error) throw error;
  if ("error" in found) throw found.error;
  return found;
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

/** Refused at once, not after half of the sample. */
function refuseTooLong(sample: number, budget: RateLimiter, ports: RunPorts): void {
  const neededMs = budget.waitMs(sample);
  const leftMs = workMs(ports);
  if (neededMs <= leftMs) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `A sample of ${countText(sample)} events takes about ${remainingText(neededMs)} within the budget, and this invocation has ${remainingText(leftMs)} left. Take a smaller sample, or use verify on the command line, which has no time limit.`,
    { fields: { sample } },
  );
}

function outOfTime(done: number, sample: number): string {
  return `The time limit was reached after ${countText(done)} of ${countText(sample)} events. Take a smaller sample, or use verify on the command line, which has no time limit.`;
}

/** Random events of a snapshot, with the texts that they had when it was made. */
export interface SampledEvent {
  readonly uuid: string;
  /** The uuid as the service listed it, with which the detail is requested. */
  readonly requestAs: string;
  /** Its text in the snapshot. */
  readonly event: string;
}

interface SampleOptions {
  /** How many events; all of them where the snapshot has fewer. */
  readonly size: number;
  readonly random: Pick<Random, "next">;
  /** Called for each row; may throw to stop. */
  readonly proceed: () => void;
}

/**
 * All sets of that many events are equally likely. Yields the events of one part at a time, once the whole part
 * is verified, so nothing is sent for a row that is damaged, and no more than a part is in memory. Throws
 * `STORE_CORRUPT` for a part that is missing or damaged.
 */
export async function* sampleEvents(
  store: AccountStore,
  { snapshot_id, counts, parts }: Pick<Manifest, "snapshot_id" | "counts" | "parts">,
  { size, random, proceed }: SampleOptions,
): AsyncGenerator<readonly SampledEvent[]> {
  let left = counts.events;
  let wanted = Math.min(size, left);
  for (const part of parts) {
    if (wanted === 0) return;
    const chosen: string[] = [];
    for await (const line of readParts(store, store.keys.snapshot(snapshot_id), [part])) {
      proceed();
      // Selection sampling: with as many rows left as are wanted, each of them is taken.
      if (random.next() * left < wanted) {
        chosen.push(line);
        wanted -= 1;
      }
      left -= 1;
    }
    if (chosen.length > 0) yield chosen.map(sampledEvent);
  }
}

/** A list that is keyed by uuid has none in the entries. */
const LISTED = z.object({ uuid: z.string() });

function sampledEvent(line: string): SampledEvent {
  const { uuid, event, listing } = parseRow(line);
  const listed = LISTED.safeParse(JSON.parse(listing)).data?.uuid;
  return { uuid, requestAs: listed?.toLowerCase() === uuid ? listed : uuid, event };
}

/** As columns of `sync_runs`: `events` are those that the service still gives. */
function asCounts({ same, changed, gone, forbidden, oversize, too_deep }: Verified["uuids"]): SnapshotCounts {
  return {
    ...NO_COUNTS,
    events: same.length + changed.length,
    changed: changed.length,
    gone: gone.length,
    forbidden: forbidden.length,
    rejected: oversize.length + too_deep.length,
  };
}

/** Contract: the line of `--json`, and in the function's answer. They add up to the sample. */
interface VerifiedCounts {
  readonly same: number;
  readonly changed: number;
  /** What a run would leave out now: no longer there, forbidden, too large, or nested too deep. */
  readonly gone: number;
}

export function verifiedCounts({ sample, uuids }: Pick<Verified, "sample" | "uuids">): VerifiedCounts {
  const [same, changed] = [uuids.same.length, uuids.changed.length];
  return { same, changed, gone: sample - same - changed };
}

/** `97 same, 2 changed since, 1 gone`. Only what is not plainly gone needs a word. */
export function verifiedText(found: Pick<Verified, "sample" | "uuids">): string {
  const { same, changed, gone } = verifiedCounts(found);
  const parts = `${countText(same)} same, ${countText(changed)} changed since, ${countText(gone)} gone`;
  const reasons = [
    ["forbidden", "forbidden"],
    ["oversize", "too large"],
    ["too_deep", "nested too deep"],
  ] as const;
  const named = reasons.flatMap(([verdict, what]) => {
    const { length } = found.uuids[verdict];
    return length === 0 ? [] : `${countText(length)} ${what}`;
  });
  return named.length === 0 ? parts : `${parts} (${named.join(", ")})`;
}
