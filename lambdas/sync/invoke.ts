// One invocation: reads what is asked, does it, tells everybody how it ended.

import type { Context } from "aws-lambda";
import { SyncError } from "../job/errors/sync-error.ts";
import { acceptOrRollback } from "../job/run/accept-or-rollback.ts";
import { check } from "../job/run/check.ts";
import { discover } from "../job/run/discover.ts";
import { type RunStart, run } from "../job/run/run.ts";
import type { RunPorts, RunSettings } from "../job/run/run-ports.ts";
import { status } from "../job/run/status.ts";
import { formatRunId } from "../job/storage/run-id.ts";
import { conclude } from "./conclude.ts";
import { defectOf, failureOf } from "./failure.ts";
import { type FunctionPorts, functionHost } from "./function-host.ts";
import type { FunctionLog } from "./function-log.ts";
import { links } from "./links.ts";
import { DEFECT_METRICS } from "./metrics.ts";
import { parseRequest, type RunRequest, type SyncRequest } from "./request.ts";
import { runSettings } from "./run-settings.ts";
import { timeLimit } from "./time-limit.ts";

/**
 * @param compose puts together what the invocation works with; it may throw too.
 * Throws `InvocationFailed` for a run that failed and for everything else that did not work.
 */
export async function invoke(
  compose: () => FunctionPorts,
  log: FunctionLog,
  event: unknown,
  context: Context,
): Promise<object> {
  const start: { account?: string; run_id?: string } = {};
  const about = (fields: typeof start): void => {
    Object.assign(start, fields);
    log.about(fields);
  };
  let ports: FunctionPorts | undefined;
  log.begin(context);
  try {
    ports = compose();
    const request = parseRequest(event, Object.keys(ports.environment.accounts), ports.clock.now());
    about({ account: request.account });
    return await answer(ports, request, context, (run_id) => about({ run_id }));
  } catch (error) {
    if (error instanceof SyncError) {
      log.error(error.message, { error_code: error.code, ...error.fields });
      throw failureOf(error, start);
    }
    if (start.account !== undefined) ports?.metrics(start.account, DEFECT_METRICS);
    throw defectOf(error, start);
  }
}

async function answer(
  ports: FunctionPorts,
  request: SyncRequest,
  context: Context,
  onRunId: (runId: string) => void,
): Promise<object> {
  const { environment, store, clock } = ports;
  const { account } = request;
  const accountSettings = environment.accounts[account];
  if (accountSettings === undefined) throw new Error("a request names an account that there is");
  const settings = runSettings(account, accountSettings, environment);
  const { region, workgroup, database } = environment;
  const facts = { account, database, links: links({ region, workgroup, context }) };
  const tell = { ports, requestsPerMinute: settings.requestsPerMinute, facts };
  using limit = timeLimit(context);
  const host: RunPorts = { ...functionHost(ports, accountSettings, settings, limit), onRunId };

  switch (request.action) {
    case "run":
      return conclude(await run(host, settings, startOf(request)), tell);
    case "accept":
    case "rollback":
      return conclude(await acceptOrRollback(host, account, request), tell);
    case "check":
      return checked(host, settings);
    case "discover": {
      const found = await discover(host, settings, request.limit);
      if ("outcome" in found) return { account, ...found };
      const { listed, events, fields, suggestions } = found;
      return { account, listed, events, fields, suggestions };
    }
    case "status":
      return status(store, account, clock.now());
  }
}

async function checked(host: RunPorts, settings: RunSettings): Promise<object> {
  const checks = await check(host, settings);
  return { account: settings.account, ok: checks.every(({ ok }) => ok), checks };
}

/**
 * The schedule's instant names its run, so Lambda's retries and a second delivery are the same run. Another start
 * has no instant that its retry would share (the request id is none): being manual, it adopts the unfinished run that
 * the attempt before has left. The Test button repeats nothing; a caller with `--invocation-type Event` has a run that
 * failed for good made anew by each of Lambda's two retries.
 */
function startOf({ scheduledAt, dryRun, limit, fresh, overDamaged }: RunRequest): RunStart {
  if (scheduledAt !== undefined) {
    return { trigger: "schedule", runId: formatRunId(Date.parse(scheduledAt)) };
  }
  return {
    trigger: "manual",
    fresh,
    ...(overDamaged ? { overDamaged } : {}),
    ...(dryRun ? { dryRun: { limit } } : {}),
  };
}
