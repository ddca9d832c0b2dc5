// Does one command with a real job, and says how it ended.

import type { Check } from "../../../lambdas/job/commands/check-service.ts";
import type { AcceptOrRollback } from "../../../lambdas/job/commands/decisions.ts";
import type { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Change } from "../../../lambdas/job/snapshot/rows/compare-snapshots.ts";
import type { Account } from "../account.ts";
import type { Command } from "../plan/plan.ts";
import type { Job } from "../versions/job.ts";

export interface Ended {
  readonly text: string;
  /** The function would throw. */
  readonly isFailure: boolean;
  /** Of a run, an accept or a rollback. */
  readonly result?: RunResult;
  /** What it threw. */
  readonly error?: SyncError;
  /** Of `check`. */
  readonly checks?: readonly Check[];
  readonly diff?: { readonly a: string; readonly b: string | null; readonly changes: readonly Change[] };
  /** Not an error of ours: a defect. */
  readonly defect?: unknown;
}

/** Never rejects. */
export function doCommand(
  job: Job,
  account: Account,
  ports: RunPorts,
  command: Command,
  runId: string | undefined,
): Promise<Ended> {
  return endedBy(job, () => work(job, account, ports, command, runId));
}

/** Never rejects: what the work throws is an end as well. */
export async function endedBy<End extends Ended>(
  { SyncError }: Job,
  work: () => Promise<End>,
): Promise<End | Ended> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SyncError) return { text: `throws ${error.code}`, isFailure: true, error };
    return { text: `throws ${String(error)}`, isFailure: true, defect: error };
  }
}

async function work(
  job: Job,
  account: Account,
  ports: RunPorts,
  command: Command,
  runId: string | undefined,
): Promise<Ended> {
  const { settings } = account;
  switch (command.name) {
    case "run": {
      const { fresh, isDry, overDamaged = false } = command;
      const dryRun = isDry ? { dryRun: { limit: undefined } } : {};
      return endOfResult(
        runId === undefined
          ? await job.run(ports, settings, { trigger: "manual", fresh, overDamaged, ...dryRun })
          : await job.run(ports, settings, { trigger: "schedule", runId }),
      );
    }
    case "accept":
    case "rollback": {
      const { pick, overDamaged } = command;
      const about = { snapshotId: snapshotAt(account, pick), overDamaged };
      const request: AcceptOrRollback =
        command.name === "accept"
          ? { action: "accept", force: command.force, ...about }
          : { action: "rollback", pin: command.pin, ...about };
      return endOfResult(await job.acceptOrRollback(ports, request));
    }
    case "check": {
      const checks = await job.check(ports, settings, { deep: command.deep });
      const bad = checks.filter(({ ok }) => !ok).map(({ name, code }) => `${name} ${code}`);
      return { text: bad.length === 0 ? "all well" : bad.join(", "), isFailure: false, checks };
    }
    case "remove": {
      const removed = await job.removeAccount(ports);
      return { text: removed === "removed" ? removed : removed.outcome, isFailure: false };
    }
    case "retire": {
      const { ok, explanation } = await job.retire(ports, {
        snapshotId: snapshotAt(account, command.pick),
        yes: true,
      });
      return { text: explanation, isFailure: !ok };
    }
    case "diff": {
      const changes: Change[] = [];
      const of = {
        a: snapshotAt(account, command.a),
        b: command.b === undefined ? undefined : snapshotAt(account, command.b),
      };
      const { a, b } = await job.diff(ports, of, (change) => changes.push(change));
      return { text: `${changes.length} changes`, isFailure: false, diff: { a, b, changes } };
    }
    case "discover": {
      const found = await job.discover(ports, settings, 5);
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
