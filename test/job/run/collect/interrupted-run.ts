// Runs that are stopped while they collect, and what they have fetched and kept by then.

import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import { readManifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { realClock } from "../../../simulator/clocks.ts";
import type { Fault } from "../../../simulator/faults.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../sandbox.ts";

export const EVENTS = 150;
export const STOPPED = new SyncError("INTERRUPTED", "stopped");
const [GONE, FORBIDDEN] = makeEvents(2).map(({ uuid }) => uuid);
const LEFT_OUT = [
  { match: { path: "detail", uuid: GONE ?? "", times: Number.POSITIVE_INFINITY }, fault: status(404) },
  { match: { path: "detail", uuid: FORBIDDEN ?? "", times: Number.POSITIVE_INFINITY }, fault: status(403) },
] as const;

export function status(code: number): Fault {
  return { kind: "status", status: code, headers: {} };
}

/** Two events are left out. Concurrent responses take different times, so that they come out of order. */
export function start(settings: { shardSize?: number; concurrency?: number } = {}): Promise<Sandbox> {
  const latencyMs = ({ n }: { n: number }): number => ((settings.concurrency ?? 1) > 1 ? n % 7 : 0);
  return Sandbox.start(
    { events: makeEvents(EVENTS), faults: LEFT_OUT, latencyMs },
    { shardSize: 60, concurrency: 1, ...settings },
    realClock(),
  );
}

export interface Interrupted {
  readonly result: RunResult;
  /** Events that the run had a response for. */
  readonly finished: ReadonlySet<string>;
}

/** A run that is stopped when so many details have come. */
export async function interrupt(
  sandbox: Sandbox,
  after: number,
  changes: Partial<RunPorts> = {},
): Promise<Interrupted> {
  const stop = new AbortController();
  const finished = new Set<string>();
  const ports = sandbox.ports(changes);
  const openService: RunPorts["openService"] = async (rateLimiter) => {
    const service = await ports.openService(rateLimiter);
    return {
      logIn: (signal) => service.logIn(signal),
      list: (signal) => service.list(signal),
      close: () => service.close(),
      detail: async (requestAs, signal) => {
        const detail = await service.detail(requestAs, signal);
        finished.add(requestAs);
        if (finished.size === after) stop.abort(STOPPED);
        return detail;
      },
      get counts() {
        return service.counts;
      },
    };
  };
  const result = await sandbox.run({}, { ...ports, openService, signal: stop.signal });
  return { result, finished };
}

export function fetched(sandbox: Sandbox): readonly string[] {
  return [...sandbox.simulator.counts.detailsByUuid.keys()].sort();
}

export function others(finished: ReadonlySet<string>): readonly string[] {
  return makeEvents(EVENTS)
    .map(({ uuid }) => uuid)
    .filter((uuid) => !finished.has(uuid))
    .sort();
}

export function keptKeys(sandbox: Sandbox): readonly string[] {
  return sandbox.store.keys(`runs/${ACCOUNT}/`).filter((key) => key.includes("/kept-"));
}

export async function partsOf(sandbox: Sandbox, { row }: RunResult): Promise<unknown> {
  const { parts, counts } = await readManifest(sandbox.store, ACCOUNT, row.snapshot_id ?? "");
  const leftOut = sandbox.store.text(layout.leftOut(ACCOUNT, row.snapshot_id ?? ""));
  return { parts, counts, leftOut };
}
