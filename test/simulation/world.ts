// One world: a service, a warehouse, and the processes that work on them, in virtual time.

import type { Credentials } from "../../lambdas/job/credentials/credentials.ts";
import type { OAuthTokens } from "../../lambdas/job/credentials/tokens/token-store.ts";
import type { RunSettings } from "../../lambdas/job/run/run-settings.ts";
import { ExecutionsTwin } from "./hand-over/executions-twin.ts";
import { playExecution } from "./hand-over/play-execution.ts";
import { Model } from "./model/model.ts";
import { TokenPlace } from "./oauth/token-place.ts";
import type { ClockFault, Item, Plan, ProcessFault, Start } from "./plan/plan.ts";
import type { Ended } from "./process/do-command.ts";
import type { SimProcess } from "./process/sim-process.ts";
import { startProcesses } from "./process/start-processes.ts";
import { applyChange } from "./service/apply-change.ts";
import { EMAIL, VirtualService } from "./service/virtual-service.ts";
import { Story } from "./story.ts";
import { Timeline } from "./time/timeline.ts";
import { GlueTables } from "./warehouse/glue-tables.ts";
import { Objects } from "./warehouse/objects.ts";

export const ACCOUNT = "uk";
const CLIENT_ID = "client";
/** A Monday. */
const BEGINNING_MS = Date.UTC(2026, 0, 5, 6);

export class World {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly timeline = new Timeline(BEGINNING_MS);
  readonly story = new Story(this.timeline);
  readonly objects: Objects;
  readonly glue: GlueTables;
  readonly service: VirtualService;
  readonly tokens: TokenPlace;
  readonly model: Model;
  /** What the operator has stored: it may not be what the service accepts. */
  stored = { password: "first", version: 1 };
  /** Once the faults have stopped nothing fails any more, not even what is still under way. */
  hasFaults = true;
  /** The state machine, where the world has one. */
  readonly executions: ExecutionsTwin | undefined;
  /** What has begun, or is still to begin. */
  open = 0;
  readonly #processes: SimProcess[] = [];

  constructor(plan: Plan) {
    this.plan = plan;
    this.settings = settingsOf(plan);
    const now = (): number => this.timeline.nowMs;
    this.model = new Model(this);
    this.objects = new Objects(now, (change) => this.model.onObject(change));
    this.glue = new GlueTables(now, plan.setting.catalogLagMs, this.model);
    if (plan.setting.hasStateMachine) {
      const twin: ExecutionsTwin = new ExecutionsTwin((execution) => playExecution(this, twin, execution));
      this.executions = twin;
    }
    this.service = new VirtualService(plan.setting, now, (call) => this.model.onCall(call));
    this.tokens = new TokenPlace(this.#authorized(), now, plan.setting.warehouse === "directory");
    this.service.content.add(plan.setting.events, this.timeline.nowMs);
  }

  /** Every process that ever was, dead ones too. */
  get processes(): readonly SimProcess[] {
    return this.#processes;
  }

  /** A person authorizes again in the browser. */
  authorize(): void {
    this.tokens.store(this.#authorized());
    this.story.tell("operator", "authorizes again");
  }

  #authorized(): OAuthTokens {
    const { provider } = this.service;
    const obtainedAtMs = this.timeline.nowMs;
    return {
      format: 1,
      client_id: CLIENT_ID,
      access_token: provider.grant(),
      refresh_token: provider.refreshToken,
      token_type: "Bearer",
      obtained_at: new Date(obtainedAtMs).toISOString(),
      expires_at: new Date(obtainedAtMs + provider.lifeMs).toISOString(),
    };
  }

  /** The operator stores another password. */
  store(password: string): void {
    this.stored = { password, version: this.stored.version + 1 };
    this.story.tell("operator", `stores version ${this.stored.version} of the credentials`);
  }

  /** The snapshots that have files now. */
  snapshotIds(): readonly string[] {
    const prefix = `snapshots/${ACCOUNT}/`;
    return [...new Set(this.objects.keys(prefix).map((key) => key.slice(prefix.length).split("/")[0] ?? ""))];
  }

  /** Registers a process and returns its number. */
  enter(process: SimProcess): number {
    return this.#processes.push(process) - 1;
  }

  faultsOf(start: string, attempt: number): readonly ProcessFault[] {
    return this.#itemsOf("fault").filter((fault) => fault.start === start && fault.attempt === attempt);
  }

  clockFaultOf(start: string): ClockFault | undefined {
    return this.#itemsOf("clock").find((fault) => fault.start === start);
  }

  credentialsOf(process: SimProcess): Credentials {
    const { method, warehouse } = this.plan.setting;
    const versions = new WeakMap<object, string>();
    return {
      read: () =>
        process.call(
          "credentials",
          "reads the credentials",
          () => {
            const { password, version } = this.stored;
            const read =
              method === "oauth"
                ? { method, client_id: CLIENT_ID, client_secret: "secret" }
                : { method, email: EMAIL, password };
            versions.set(read, `version ${version}`);
            return read;
          },
          {},
        ),
      // A file on a laptop has no versions.
      ...(warehouse === "bucket" ? { versionOf: (read) => versions.get(read) } : {}),
    };
  }

  /** Puts everything of the plan on the timeline; resolves when all of it has happened and every process has ended. */
  async live(): Promise<boolean> {
    for (const item of this.plan.items) this.#plan(item);
    return this.untilIdle();
  }

  /** Until nothing is under way, or a promise is broken; false where something waits for ever. */
  untilIdle(): Promise<boolean> {
    const isIdle = (): boolean => this.open === 0 && (this.executions?.areAllOver ?? true);
    return this.timeline.runUntil(() => isIdle() || this.model.violation !== undefined);
  }

  #plan(item: Item): void {
    if (item.kind !== "start" && item.kind !== "change") return;
    this.open += 1;
    this.timeline.at(BEGINNING_MS + item.afterMs, () => {
      this.open -= 1;
      if (item.kind === "change") applyChange(this, item.change);
      else this.begin(item, () => undefined);
    });
  }

  /** Starts the processes of one start, now. */
  begin(start: Start, onEnd: (ended: Ended | undefined) => void): void {
    this.open += 1;
    startProcesses(this, start, (ended) => {
      this.open -= 1;
      onEnd(ended);
    });
  }

  #itemsOf<Kind extends Item["kind"]>(kind: Kind): readonly Extract<Item, { kind: Kind }>[] {
    return this.plan.items.filter((item): item is Extract<Item, { kind: Kind }> => item.kind === kind);
  }
}

function settingsOf({ setting }: Plan): RunSettings {
  const { requestsPerMinute, bytesPerMinute, concurrency, rangeEvents, retainDays } = setting;
  return {
    account: ACCOUNT,
    baseUrl: "https://service.example/",
    authUrl: "https://auth.example/",
    isListed: "true",
    listPointer: undefined,
    detailPointer: undefined,
    lifted: [],
    requestsPerMinute,
    bytesPerMinute,
    windowMs: 60_000,
    concurrency,
    maxDropPercent: setting.maxDropPercent,
    maxGrowthPercent: setting.maxGrowthPercent,
    maxMissingPercent: setting.maxMissingPercent,
    require: setting.require,
    resumeWithinMinutes: 60,
    retainDays,
    rangeEvents,
  };
}
