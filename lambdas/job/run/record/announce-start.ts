// Says once that a run has begun, however many attempts it takes.

import { isDamage } from "../../errors/is-damage.ts";
import { readJson } from "../../storage/json-object.ts";
import { layout } from "../../storage/layout.ts";
import type { Store } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";
import { runLogEntrySchema, type Trigger } from "./run-log.ts";

export interface AnnounceTask {
  readonly ports: Pick<RunPorts, "store" | "clock" | "onStarted">;
  readonly account: string;
  readonly runId: string;
  readonly trigger: Trigger;
}

/**
 * Called by an attempt that has the lease, has opened the service, and found no plan of its run. Says nothing where an
 * earlier attempt of the run came as far: its line of the run log has requests.
 */
export async function announceStart({ ports, account, runId, trigger }: AnnounceTask): Promise<void> {
  if (ports.onStarted === undefined || (await hasBegun(ports.store, account, runId))) return;
  await ports.onStarted({ runId, trigger, startedAtMs: ports.clock.now() });
}

async function hasBegun(store: Store, account: string, runId: string): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const row = await readJson(store, layout.runLog(account, runId, attempt), runLogEntrySchema);
      if (row === undefined) return false;
      if (row.requests !== null) return true;
    } catch (error) {
      // What a damaged line says is for check. Twice is better than never.
      if (!isDamage(error)) throw error;
    }
  }
}
