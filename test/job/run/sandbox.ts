// A run's whole world in memory: store, catalog, clock, and a simulated service that is a real server.

import { randomUUID } from "node:crypto";
import { type AcceptOrRollback, acceptOrRollback } from "../../../lambdas/job/commands/decisions.ts";
import type { ServiceCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { serviceOpener } from "../../../lambdas/job/run/open-account.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { type RunStart, run } from "../../../lambdas/job/run/run.ts";
import type { Progress, RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import type { Clock, Random } from "../../../lambdas/job/runtime/clock.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { acceleratedClock } from "../../simulator/clocks.ts";
import type { SimulatorOptions } from "../../simulator/settings.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { MemoryCatalog } from "../catalog/memory-catalog.ts";
import { MemoryTokenStore } from "../credentials/tokens/memory-token-store.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { Authorized } from "../service/auth/oauth/authorized.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { portsWith, settingsWith } from "./run-defaults.ts";
import type { PortChanges } from "./small-world.ts";

export const ACCOUNT = "uk";

/** Fast enough that a pause of half a minute costs a test a third of a second. */
const SPEED = 100;

const random: Random = { next: () => Math.random(), token: () => randomUUID() };

export class Sandbox {
  readonly simulator: Simulator;
  readonly clock: Clock;
  readonly store: Store & MemoryStore;
  readonly catalog: MemoryCatalog;
  readonly log = new LogLines();
  readonly progress: Progress[] = [];
  /** Process ids that no longer exist. */
  readonly dead = new Set<number>();
  /** Whose runs it makes. */
  account = ACCOUNT;
  settings: RunSettings;
  credentials: ServiceCredentials;
  /** The identity provider and the stored tokens of the method `oauth`. */
  readonly authorized: Authorized;
  /** Of one attempt, in real milliseconds: connections know no other time. */
  timeoutMs = 30_000;
  #pid = 0;

  private constructor(
    simulator: Simulator,
    authorized: Authorized,
    clock: Clock,
    settings: Partial<RunSettings>,
  ) {
    this.simulator = simulator;
    this.authorized = authorized;
    this.clock = clock;
    this.store = new MemoryStore(clock);
    this.catalog = new MemoryCatalog(this.store);
    this.credentials = { method: "session", ...simulator.credentials };
    const addresses = { baseUrl: simulator.url, authUrl: authorized.provider.url };
    this.settings = settingsWith({ ...addresses, concurrency: 8, rangeEvents: 1_000, ...settings });
  }

  static async start(
    service: SimulatorOptions = {},
    settings: Partial<RunSettings> = {},
    clock: Clock = acceleratedClock(SPEED),
  ): Promise<Sandbox> {
    const authorized = await Authorized.start(clock);
    const simulator = await Simulator.start({ clock, bearer: authorized.provider, ...service });
    return new Sandbox(simulator, authorized, clock, settings);
  }

  /** From now on runs use this method. */
  use(method: ServiceCredentials["method"]): void {
    const { simulator, authorized } = this;
    this.credentials =
      method === "oauth" ? authorized.provider.credentials : { method, ...simulator.credentials };
  }

  /** What a process of its own is given; `changes` puts something else in the place of a part. */
  ports({ store = this.store, ...changes }: PortChanges = {}): RunPorts {
    this.#pid += 1;
    return portsWith({
      store: accountStore(store, this.account),
      catalog: this.catalog,
      clock: this.clock,
      random,
      logger: this.log,
      process: { host: "sandbox", pid: this.#pid },
      isGone: ({ pid }) => pid !== undefined && this.dead.has(pid),
      openService: serviceOpener(this.settings, {
        credentials: { read: async () => this.credentials },
        tokens: async () => new MemoryTokenStore(this.authorized.place, this.clock),
        clock: this.clock,
        random,
        logger: this.log,
        timeoutMs: this.timeoutMs,
      }),
      onProgress: (progress) => this.progress.push(progress),
      ...changes,
    });
  }

  /** The account's part of the store. */
  get own(): AccountStore {
    return accountStore(this.store, this.account);
  }

  async run(start: Partial<RunStart> = {}, changes: PortChanges = {}): Promise<RunResult> {
    return run(this.ports(changes), this.settings, {
      trigger: start.runId ? "schedule" : "manual",
      ...start,
    });
  }

  /** A run that is stopped when so many events are done. */
  interrupt(after: number, start: Partial<RunStart> = {}): Promise<RunResult> {
    const stop = new AbortController();
    const onProgress = ({ done }: Progress): void => {
      if (done === after) stop.abort(new SyncError("INTERRUPTED", "stopped"));
    };
    return this.run(start, { signal: stop.signal, onProgress });
  }

  async decide(request: AcceptOrRollback): Promise<RunResult> {
    return acceptOrRollback(this.ports(), request);
  }

  /** The table `events`: uuid and detail text. */
  async events(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.catalog.events(ACCOUNT)).map(({ uuid, event }) => [uuid, event]));
  }

  /** What `events` must be, by the simulator's word: its texts have no white space between tokens. */
  truth(): ReadonlyMap<string, string> {
    const { simulator } = this;
    const sorted = simulator.listed().toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));
    return new Map(sorted.map(({ uuid }) => [uuid, simulator.detailSource(uuid)]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.simulator.stop();
    await this.authorized.provider.stop();
  }
}
