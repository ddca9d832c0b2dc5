// What a start of the plan becomes: one process on a laptop, or the invocations of the function with its retries; each from
// its start to its end, with a real job on the world's store, catalog, service and clocks.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { HostPorts, RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Random } from "../../../lambdas/job/runtime/clock.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { formatRunId } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { timeKept } from "../../../lambdas/sync/handle-request.ts";
import { portsWith } from "../../job/run/run-defaults.ts";
import type { Account } from "../account.ts";
import { Chance } from "../chance.ts";
import { watchWrites } from "../model/check-lease.ts";
import type { Start } from "../plan/plan.ts";
import type { Job } from "../versions/job.ts";
import { drawVersion, jobOf } from "../versions/versions.ts";
import { awsClients } from "../warehouse/aws-clients.ts";
import { DirectoryTwin } from "../warehouse/directory-twin.ts";
import { glueEndpoint } from "../warehouse/glue.ts";
import { s3Endpoint } from "../warehouse/s3.ts";
import type { World } from "../world.ts";
import { doCommand, type Ended } from "./do-command.ts";
import { ProcessClock, SimProcess } from "./sim-process.ts";
import { VirtualTransport } from "./virtual-transport.ts";

/** Lambda's own waits before it starts a failed invocation again. */
export const RETRIES_AFTER_MS = [60_000, 120_000];

/** `onEnd` is told how the last of them ended; a killed one has no end. */
export function startProcesses(world: World, start: Start, onEnd: (ended: Ended | undefined) => void): void {
  const { timeline } = world;
  const scheduledAtMs = Math.floor(timeline.nowMs / 60_000) * 60_000;
  const runId = start.by === "schedule" ? formatRunId(scheduledAtMs) : undefined;
  let open = 1;
  const end = (ended: Ended | undefined): void => {
    open -= 1;
    if (open === 0) onEnd(ended);
  };
  startAttempt(world, { start, runId, isAgain: false, attempt: 0 }, end);
  if (start.againAfterMs === undefined) return;
  open += 1;
  timeline.at(timeline.nowMs + start.againAfterMs, () =>
    startAttempt(world, { start, runId, isAgain: true, attempt: 0 }, end),
  );
}

interface Attempt {
  readonly start: Start;
  readonly runId: string | undefined;
  /** A second delivery of the same trigger: nothing goes wrong in it. */
  readonly isAgain: boolean;
  readonly attempt: number;
}

function startAttempt(world: World, tried: Attempt, onEnd: (ended: Ended | undefined) => void): void {
  const { start, runId, isAgain, attempt } = tried;
  const { timeline } = world;
  const delivery = `${start.id}${isAgain ? "-again" : ""}`;
  const lived = {
    world,
    accounts: world.accountsOf(start.account),
    name: attempt === 0 ? delivery : `${delivery}.${attempt + 1}`,
    start,
    attempt: isAgain ? undefined : attempt,
    requestId: delivery,
    work: (job: Job, account: Account, ports: RunPorts) =>
      doCommand(job, account, ports, start.command, runId),
    what: `${JSON.stringify(start.command).replaceAll('"', "")} for ${start.account}`,
  };
  liveProcess(lived, (ended) => {
    // The function throws for a run that failed, and Lambda starts it again.
    const isFailed = ended === undefined || ended.isFailure;
    const waitMs = start.by !== "laptop" && isFailed ? RETRIES_AFTER_MS[attempt] : undefined;
    if (waitMs === undefined) onEnd(ended);
    else
      timeline.at(timeline.nowMs + waitMs, () =>
        startAttempt(world, { ...tried, attempt: attempt + 1 }, onEnd),
      );
  });
}

interface Lived {
  readonly world: World;
  /** The process works for one after the other. */
  readonly accounts: readonly [Account, ...Account[]];
  readonly name: string;
  /** Whose faults and clock it has. */
  readonly start: Start;
  /** Its number among the processes of this start; undefined: nothing goes wrong in it. */
  readonly attempt: number | undefined;
  /** The id of the request that the platform repeats. */
  readonly requestId: string;
  /** Never rejects. */
  readonly work: (job: Job, account: Account, ports: RunPorts) => Promise<Ended>;
  readonly what: string;
}

/** Nothing of the job lasts longer; what does, never ends. */
const PATIENCE_MS = 12 * 60 * 60_000;

/** `onEnd` is called once with the end of the last account, without one for a process that was killed. */
export function liveProcess(lived: Lived, onEnd: (ended: Ended | undefined) => void): void {
  const { world, name, start, attempt } = lived;
  const { timeline, story, plan } = world;
  const version = drawVersion(world, name, start);
  const process = new SimProcess({
    name,
    job: jobOf(version),
    seed: plan.seed,
    timeline,
    story,
    faults: attempt === undefined ? [] : world.faultsOf(start.id, attempt),
    hasFaults: () => world.hasFaults,
    latencyMs: plan.setting.latencyMs,
    coverage: world.coverage,
  });
  const nth = world.enter(process);
  const host = start.by === "laptop" ? laptopHost(world, nth, start) : functionHost(lived, process);
  const clock = new ProcessClock(timeline, process, world.clockFaultOf(start.id));
  const chance = new Chance(plan.seed, `random of ${name}`);
  let [account] = lived.accounts;
  const begin = (next: Account): void => {
    account = next;
    account.model.onStart(name, start, version);
  };
  begin(account);
  const by = version === "today" ? start.by : `${start.by} ${version}`;
  story.tell(name, `starts: ${by} ${lived.what}`);

  let isOver = false;
  const finish = (ended: Ended | undefined): void => {
    if (isOver) return;
    isOver = true;
    process.end();
    account.model.onEnd(name, ended);
    onEnd(ended);
  };
  process.whenDead(() => finish(undefined));
  timeline.at(timeline.nowMs + PATIENCE_MS, () => {
    if (!isOver) world.fail(`${name} does not end within ${PATIENCE_MS / 3_600_000} hours`);
  });
  const workFor = async ([next, ...others]: readonly Account[]): Promise<void> => {
    if (next === undefined) return;
    if (next !== account) begin(next);
    const ended = await lived.work(
      process.job,
      next,
      processPorts({ world, account: next, process, nth, clock, chance, host }),
    );
    story.tell(name, `ends: ${ended.text}`);
    if (others.length === 0) return finish(ended);
    next.model.onEnd(name, ended);
    return workFor(others);
  };
  void workFor(lived.accounts);
}

const BUCKET = "warehouse";
const DIRECTORY = "/warehouse";

interface ProcessOf {
  readonly world: World;
  readonly process: SimProcess;
  /** Of all processes of the world. */
  readonly nth: number;
  readonly account: Account;
  readonly clock: ProcessClock;
  readonly chance: Chance;
  readonly host: HostPorts;
}

function processPorts(of: ProcessOf): RunPorts {
  const { world, process, account, clock, chance, host } = of;
  const { timeline, story } = world;
  const { model, service, settings, tokens } = account;
  const random = { next: () => chance.next(), token: () => chance.token() };
  const tell = (message: string): void => story.tell(process.name, `says: ${message}`);
  const logger: Logger = { debug: () => undefined, info: tell, warn: tell, error: tell };
  const transport = new VirtualTransport({ process, service, timeline, story, observer: model });
  const credentials = account.credentialsOf(process);
  const { store, catalog } = warehouseOf(of, random);
  return portsWith({
    store: watchWrites(model, process.name, process.job.accountStore(store, settings.account)),
    catalog,
    ...host,
    clock,
    random,
    logger,
    openService: process.job.serviceOpener(settings, {
      credentials,
      tokens: async () => tokens.seenBy(process),
      // An earlier version is given its command too.
      ...{ authorization: { tokens: async () => tokens.seenBy(process), command: "authorize" } },
      clock,
      random,
      logger,
      transport,
    }),
    onRunId: (id) => model.onRunId(process.name, id),
  });
}

function warehouseOf(
  { world, process, nth, clock }: ProcessOf,
  random: Random,
): { readonly store: Store; readonly catalog: Catalog } {
  const { objects, uploads, glue, plan } = world;
  const { DuckdbCatalog, GlueCatalog, S3Store } = process.job;
  if (plan.setting.warehouse === "directory") {
    const store = new DirectoryTwin(objects, process);
    return { store, catalog: new DuckdbCatalog({ store, directory: DIRECTORY }) };
  }
  const lag = new Chance(plan.seed, `lag of ${process.name}`);
  const { s3, glue: client } = awsClients(nth, {
    s3: s3Endpoint(objects, uploads, process),
    glue: glueEndpoint(glue, process, () => lag.next()),
  });
  const { partBytes } = plan.setting;
  const store = new S3Store({ client: s3, bucket: BUCKET, prefix: "", random, partBytes });
  const location = `s3://${BUCKET}`;
  return { store, catalog: new GlueCatalog({ client, store, database: "brand_events", location, clock }) };
}

/** Where another process can be found to be gone. Each clock is that of another computer. */
function laptopHost(world: World, nth: number, start: Start): HostPorts {
  const { processes } = world;
  const own = world.clockFaultOf(start.id) ? `laptop of ${start.id}` : "laptop";
  return {
    process: { host: own, pid: nth },
    isGone: ({ host, pid }) => host === own && pid !== undefined && (processes[pid]?.isDead ?? false),
    signal: new AbortController().signal,
  };
}

/** The platform ends the process at its limit, whatever it does then. */
function functionHost({ world, start, requestId }: Lived, process: SimProcess): HostPorts {
  const { timeline, executions, plan } = world;
  const { timeLimitMs } = plan.setting;
  const endMs = timeline.nowMs + timeLimitMs;
  const { reserveMs, closingMs } = timeKept(timeLimitMs);
  const stop = new AbortController();
  timeline.at(endMs - closingMs, () =>
    process.whenRunning(() =>
      stop.abort(new process.job.SyncError("INTERRUPTED", "The simulated time limit is near.")),
    ),
  );
  timeline.at(endMs, () => process.kill());
  return {
    process: {},
    isGone: () => false,
    signal: stop.signal,
    timeLeftMs: () => endMs - timeline.nowMs,
    reserveMs,
    executions: executions?.seenBy(process, start),
    requestId,
  };
}
