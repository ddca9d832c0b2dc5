// Does one command with the real job, and says how it ended.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { acceptOrRollback } from "../../../lambdas/job/run/accept-or-rollback.ts";
import { check } from "../../../lambdas/job/run/check.ts";
import { discover } from "../../../lambdas/job/run/discover.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { removeAccount } from "../../../lambdas/job/run/remove/remove-account.ts";
import { retire } from "../../../lambdas/job/run/retire.ts";
import { run } from "../../../lambdas/job/run/run.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Account } from "../account.ts";
import type { Command } from "../plan/plan.ts";

export interface Ended {
  readonly text: string;
  /** The function would throw. */
  readonly isFailure: boolean;
  /** Of a run, an accept or a rollback. */
  readonly result?: RunResult;
  /** Not an error of ours: a defect. */
  readonly defect?: unknown;
}

/** Never rejects. */
export function doCommand(
  account: Account,
  ports: RunPorts,
  command: Command,
  runId: string | undefined,
): Promise<Ended> {
  return endedBy(() => work(account, ports, command, runId));
}

/** Never rejects: what the work throws is an end as well. */
export async function endedBy<End extends Ended>(work: () => Promise<End>): Promise<End | Ended> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SyncError) return { text: `throws ${error.code}`, isFailure: true };
    return { text: `throws ${String(error)}`, isFailure: true, defect: error };
  }
}

async function work(
  account: Account,
  ports: RunPorts,
  command: Command,
  runId: string | undefined,
): Promise<Ended> {
  const { settings } = account;
  switch (command.name) {
    case "run": {
      const { fresh, isDry } = command;
      const dryRun = isDry ? { dryRun: { limit: undefined } } : {};
      return endOfResult(
        runId === undefined
          ? await run(ports, settings, { trigger: "manual", fresh, ...dryRun })
          : await run(ports, settings, { trigger: "schedule", runId }),
      );
    }
    case "accept": {
      const snapshotId = snapshotAt(account, command.pick);
      return endOfResult(
        await acceptOrRollback(ports, { action: "accept", snapshotId, force: command.force }),
      );
    }
    case "rollback": {
      const snapshotId = snapshotAt(account, command.pick);
      return endOfResult(await acceptOrRollback(ports, { action: "rollback", snapshotId, pin: command.pin }));
    }
    case "check": {
      const checks = await check(ports, settings, { deep: command.deep });
      const bad = checks.filter(({ ok }) => !ok).map(({ name, code }) => `${name} ${code}`);
      return { text: bad.length === 0 ? "all well" : bad.join(", "), isFailure: false };
    }
    case "remove": {
      const removed = await removeAccount(ports);
      return { text: removed === "removed" ? removed : removed.outcome, isFailure: false };
    }
    case "retire": {
      const { ok, explanation } = await retire(ports, {
        snapshotId: snapshotAt(account, command.pick),
        yes: true,
      });
      return { text: explanation, isFailure: !ok };
    }
    case "discover": {
      const found = await discover(ports, settings, 5);
      return { text: "outcome" in found ? found.outcome : `${found.events} read`, isFailure: false };
    }
  }
}

export function endOfResult(result: RunResult): Ended {
  const { row, error } = result;
  const { outcome, reason, run_id, error_code } = row;
  const text = `${outcome} ${reason ?? error_code ?? ""} of ${run_id}`;
  return { text, isFailure: error !== undefined, result };
}

function snapshotAt(account: Account, pick: number): string {
  const ids = account.snapshotIds();
  return ids.at(-1 - (pick % Math.max(1, ids.length))) ?? "2020-01-01T00-00-00.000Z";
}
