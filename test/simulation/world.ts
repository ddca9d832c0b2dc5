// One world: services, a warehouse, and the processes that work on them, in virtual time.

import { Account } from "./account.ts";
import { applyChange, applyDamage } from "./apply-item.ts";
import { Coverage } from "./coverage.ts";
import type { ClockFault, Item, Plan, ProcessFault, Start } from "./plan/plan.ts";
import type { Ended } from "./process/do-command.ts";
import { ExecutionsTwin, playExecution } from "./process/executions.ts";
import { startProcesses } from "./process/live-process.ts";
import type { SimProcess } from "./process/sim-process.ts";
import { Story, Timeline } from "./timeline.ts";
import { GlueTables } from "./warehouse/glue.ts";
import { type ObjectChange, Objects } from "./warehouse/objects.ts";
import { Uploads } from "./warehouse/s3.ts";

/** A Monday. */
const BEGINNING_MS = Date.UTC(2026, 0, 5, 6);

export class World {
  readonly plan: Plan;
  readonly timeline = new Timeline(BEGINNING_MS);
  readonly story = new Story(this.timeline);
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly glue: GlueTables;
  readonly accounts: readonly Account[];
  readonly coverage = new Coverage();
  /** Once the faults have stopped nothing fails any more, not even what is still under way. */
  hasFaults = true;
  /** The state machine, where the world has one. */
  readonly executions: ExecutionsTwin | undefined;
  /** What has begun, or is still to begin. */
  open = 0;
  readonly #processes: SimProcess[] = [];
  #violation: string | undefined;

  constructor(plan: Plan) {
    this.plan = plan;
    const now = (): number => this.timeline.nowMs;
    const modelsOf = (name: string | undefined) =>
      this.accounts
        .filter((account) => name === undefined || account.name === name)
        .map(({ model }) => model);
    this.objects = new Objects(now, (change) => {
      if (FOREIGN.test(change.key))
        this.fail(`${change.by} changes ${change.key}, which is not of the program`);
      for (const model of modelsOf(accountIn(change))) model.onObject(change);
    });
    this.uploads = new Uploads(this.objects, now, plan.setting.partBytes);
    this.glue = new GlueTables(now, plan.setting.catalogLagMs, {
      onPartition: (table, partition, by) => {
        for (const model of modelsOf(partition.values[0])) model.onPartition(table, partition, by);
      },
      onPartitionRemoved: (table, values) => {
        for (const model of modelsOf(values[0])) model.onPartitionRemoved(table, values);
      },
    });
    if (plan.setting.hasStateMachine) {
      const twin: ExecutionsTwin = new ExecutionsTwin((execution) => playExecution(this, twin, execution));
      this.executions = twin;
    }
    this.accounts = plan.setting.accounts.map((name) => new Account(this, name));
  }

  /** The first promise that was broken. */
  get violation(): string | undefined {
    return this.#violation;
  }

  fail(what: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = what;
    this.story.tell("model", `finds: ${what}`);
  }

  /** Every process that ever was, dead ones too. */
  get processes(): readonly SimProcess[] {
    return this.#processes;
  }

  /** The accounts of a start, in the order in which it takes them; the first where the world has not the one it names. */
  accountsOf(name: string): readonly [Account, ...Account[]] {
    const [first, ...others] = this.accounts.filter((account) => name === "all" || account.name === name);
    if (first) return [first, ...others];
    const [only] = this.accounts;
    if (only === undefined) throw new Error("a world has an account");
    return [only];
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

  /** Puts everything of the plan on the timeline; resolves when all of it has happened and every process has ended. */
  async live(): Promise<boolean> {
    for (const item of this.plan.items) this.#plan(item);
    return this.untilIdle();
  }

  /** Until nothing is under way, or a promise is broken; false where something waits for ever. */
  untilIdle(): Promise<boolean> {
    const isIdle = (): boolean => this.open === 0 && (this.executions?.areAllOver ?? true);
    return this.timeline.runUntil(() => isIdle() || this.violation !== undefined);
  }

  #plan(item: Item): void {
    if (item.kind === "fault" || item.kind === "clock") return;
    this.open += 1;
    this.timeline.at(BEGINNING_MS + item.afterMs, () => {
      this.open -= 1;
      if (item.kind === "change") applyChange(this, item);
      else if (item.kind === "columns") this.accountsOf(item.account)[0].lift(item.lifted);
      else if (item.kind === "damage") applyDamage(this, item);
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

/** What `applyDamage` puts beside files of the program. */
const FOREIGN = /\/(?:_note[.]txt|[.]hidden|_part-00000[.]ndjson[.]gz)$/;

/** Undefined for a file of the whole warehouse. */
const accountIn = ({ key }: ObjectChange): string | undefined => key.split("/")[1];
