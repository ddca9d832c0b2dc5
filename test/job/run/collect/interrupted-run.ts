// Runs that are stopped while they collect.

import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import type { Sandbox } from "../sandbox.ts";
import type { PortChanges } from "../small-world.ts";

const STOPPED = new SyncError("INTERRUPTED", "stopped");

interface Interrupted {
  readonly result: RunResult;
  /** Events that the run had a response for. */
  readonly finished: ReadonlySet<string>;
}

/** A run that is stopped when so many details have come. */
export async function interrupt(
  sandbox: Sandbox,
  after: number,
  changes: PortChanges = {},
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
