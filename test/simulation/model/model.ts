// What must be true in every world, checked whenever something happens. Knows the promises and none of the code.

import type { TransportRequest } from "../../../lambdas/job/service/http/transport.ts";
import type { Account } from "../account.ts";
import type { Start } from "../plan/plan.ts";
import type { Ended } from "../process/do-command.ts";
import type { OnAnswer, RequestObserver } from "../process/virtual-transport.ts";
import type { ServedCall } from "../service/virtual-service.ts";
import type { Version } from "../versions/versions.ts";
import type { GluePartition, PartitionObserver } from "../warehouse/glue.ts";
import type { ObjectChange } from "../warehouse/objects.ts";
import type { World } from "../world.ts";
import { type ListOfRun, noteKnown, notePage, notePlan, noteRefusal, type Refusal } from "./check-answers.ts";
import { checkFound, hasDamage } from "./check-damage.ts";
import { checkTaken } from "./check-lease.ts";
import { checkEnd, checkOutcome, checkUploads } from "./check-outcomes.ts";
import { checkPublication } from "./check-publication.ts";
import { isCutOff, isRemoved } from "./check-removal.ts";
import {
  checkGivenUp,
  type Login,
  rememberRefusal,
  type TokenRequest,
  watchRequest,
} from "./check-requests.ts";
import { checkChangesShown, checkSnapshotCheck, noteRestart } from "./check-restart.ts";
import { checkFormat, checkParts, checkRecord, checkRowsDeleted, checkSnapshot } from "./check-snapshot.ts";
import {
  areClocksAsPromised,
  beganBeforeRemoval,
  checkDeletion,
  checkPartitions,
  checkRetirement,
  checkShown,
  checkTakenOut,
  clockErrorMs,
} from "./check-visibility.ts";
import { Reader } from "./reader.ts";
import { Heads, Visibility } from "./visibility.ts";

const WINDOW_MS = 60_000;
/** What a dead process has sent may still arrive for so long. */
const ECHO_MS = 10 * 60_000;

/** What the model knows about one process. */
export interface ProcessFacts {
  readonly name: string;
  readonly start: Start;
  readonly version: Version;
  readonly fromMs: number;
  /** Of a run: the one it works on now. */
  runId: string | undefined;
  /** When it wrote the lease first. */
  leaseFromMs: number | undefined;
  /** No other process was there at any time, nor shortly before. */
  wasAlone: boolean;
  hasSent: boolean;
  /** Of the list: the uuids of each page. */
  readonly readings: string[][][];
  /** The largest total that a page of the newest reading states; 0 where none does. */
  stated: number;
  /** The events that readers do not see, although they are listed: those that the heads of its time leave out. */
  readonly knownLeftOut: Set<string>;
  /** The process has shown readers what was removed meanwhile. */
  hasPutBack: boolean;
  isOver: boolean;
}

export class Model implements RequestObserver, PartitionObserver {
  readonly world: World;
  readonly account: Account;
  readonly reader: Reader;
  readonly visibility: Visibility;
  readonly processes = new Map<string, ProcessFacts>();
  /** When the first process of a run began. */
  readonly runsFromMs = new Map<string, number>();
  /** When the last removal was entered. */
  removedAtMs: number | undefined;
  /** Of each publication that ever counted its action and its run. */
  readonly published = new Set<string>();
  readonly heads: Heads;
  /** The runs whose plan says that they restart. */
  readonly restarts = new Set<string>();
  /** When a snapshot was marked as retired; what became the head meanwhile loses its mark again. */
  readonly retiredAtMs = new Map<string, number>();
  /** The place in the log of what readers see; undefined where they have seen nothing. */
  shownAt: number | undefined;
  /** What the plan of a run must have, where that is known. */
  readonly lists = new Map<string, ListOfRun>();
  /** By reason, which shares of the listed events a person took as missing last. */
  accepted: Readonly<Record<string, number>> = {};
  readonly refusedDetails: Refusal[] = [];
  /** Who has recorded that an event is left out, by run and event. */
  readonly leftOutBy = new Map<string, string>();
  /** Who has written a file of rows. */
  readonly rowsBy = new Map<string, string>();
  /** Of plans, by the version of the job that works at them. */
  readonly formats = new Map<Version, number>();
  /** When `outcome.json` of a run was written. */
  readonly outcomesAtMs = new Map<string, number>();
  /** Of each run the number where the log ended when its plan was made. */
  readonly plannedAt = new Map<string, string>();
  readonly plannedAtMs = new Map<string, number>();
  readonly plannedBy = new Map<string, Version | undefined>();
  /** Who has written the lease last, and when that was sent; undefined where it is free. */
  leaseBy: { readonly process: string; readonly sentAtMs: number } | undefined;
  /** When a process has sent the lease last, whatever became of it. */
  readonly leaseSentAtMs = new Map<string, number>();
  readonly logins: Login[] = [];
  readonly tokenRequests: TokenRequest[] = [];
  /** When a start had a password refused, by the password. */
  readonly refusals = new Map<string, number>();
  /** When a check that found no lease, because the store failed, sent its last request. */
  #uncountedAtMs = Number.NEGATIVE_INFINITY;
  #columns: readonly string[] = [];
  #lastEndMs = Number.NEGATIVE_INFINITY;

  constructor(world: World, account: Account) {
    this.world = world;
    this.account = account;
    const now = (): number => world.timeline.nowMs;
    this.reader = new Reader(() => world.objects, account.name);
    this.visibility = new Visibility(account.name, now);
    this.heads = new Heads(now);
  }

  fail(what: string): void {
    this.world.fail(this.world.accounts.length === 1 ? what : `${this.account.name}: ${what}`);
  }

  /** Whether the plan lets something go wrong in the processes of this start, or with clocks. */
  isTroubled(start: string): boolean {
    return this.world.plan.items.some(
      (item) => item.kind === "clock" || (item.kind === "fault" && item.start === start),
    );
  }

  onStart(name: string, start: Start, version: Version): void {
    const fromMs = this.world.timeline.nowMs;
    const others = [...this.processes.values()].filter(({ isOver }) => !isOver);
    for (const other of others) {
      other.wasAlone = false;
      this.world.coverage.notePair(other.start.command.name, start.command.name);
    }
    const facts: ProcessFacts = {
      name,
      start,
      version,
      fromMs,
      runId: undefined,
      leaseFromMs: undefined,
      wasAlone: others.length === 0 && fromMs - this.#lastEndMs > ECHO_MS,
      hasSent: false,
      readings: [],
      stated: 0,
      knownLeftOut: new Set(),
      hasPutBack: false,
      isOver: false,
    };
    this.processes.set(name, facts);
    noteKnown(this, facts);
  }

  onRunId(process: string, runId: string): void {
    if (!this.runsFromMs.has(runId)) this.runsFromMs.set(runId, this.world.timeline.nowMs);
    const facts = this.processes.get(process);
    if (facts) facts.runId = runId;
  }

  /** The process ended by itself, or was killed. */
  onEnd(process: string, ended: Ended | undefined): void {
    this.#lastEndMs = this.world.timeline.nowMs;
    const facts = this.processes.get(process);
    if (facts === undefined) return;
    facts.isOver = true;
    if (ended === undefined) return;
    const { coverage } = this.world;
    const error = ended.error ?? ended.result?.error;
    if (ended.result) coverage.note("outcome", ended.result.row.outcome);
    if (error) coverage.note("error", error.code);
    rememberRefusal(this, facts);
    this.#check(() => {
      checkEnd(this, process, ended);
      checkFound(this, facts, ended);
      checkChangesShown(this, facts, ended);
      checkSnapshotCheck(this, facts, ended);
      checkUploads(this, process);
      checkGivenUp(this, facts, error?.code);
      if (!error?.isRetryable) checkTakenOut(this, facts);
    });
  }

  onObject(change: ObjectChange): void {
    this.#check(() => this.#objectChanged(change));
  }

  onPartition(table: string, partition: GluePartition, by: string): void {
    this.visibility.onPartition(table, partition);
    if (table !== "events") return;
    this.#check(() => {
      checkShown(this, by);
      if (!beganBeforeRemoval(this, by)) checkPartitions(this, partition);
    });
  }

  onPartitionRemoved(table: string, values: readonly string[]): void {
    this.visibility.onPartitionRemoved(table, values);
  }

  onCall(call: ServedCall): void {
    const { by, isOverRequests, atMs } = call;
    notePage(this, call);
    noteRefusal(this, call);
    const { setting } = this.world.plan;
    if (this.processes.get(by)?.leaseFromMs === undefined) this.#uncountedAtMs = atMs;
    // The lease carries instants. Version 0.1 takes those of another computer as its own clock would have shown them.
    const isOld = [...this.processes.values()].some(({ version }) => version !== "today");
    const isPromised =
      setting.stricterRequestsPerMinute === undefined &&
      (isOld ? clockErrorMs(this.world) === 0 : areClocksAsPromised(this.world)) &&
      !hasDamage(this) &&
      atMs - this.#uncountedAtMs > WINDOW_MS;
    if (isOverRequests && isPromised)
      this.fail(`${by} sends a request beyond the ${setting.requestsPerMinute} a minute of the service`);
  }

  onSend(process: string, request: TransportRequest): OnAnswer {
    const facts = this.processes.get(process);
    if (facts === undefined) return () => undefined;
    let onAnswer: OnAnswer = () => undefined;
    this.#check(() => {
      onAnswer = watchRequest(this, facts, request);
    });
    return onAnswer;
  }

  #objectChanged(change: ObjectChange): void {
    const { key, before, after, by } = change;
    const [folder = "", , id = "", file = ""] = key.split("/");
    const isNew = before === undefined && after !== undefined;
    if (id !== "" && !this.processes.has(by))
      this.fail(`${by} works for another account, and changes ${key}`);
    if (isRemoved(this, change, id)) {
      // With the account goes what was known of the budget's use, and of refused passwords.
      if (id === "lease.json") {
        this.#uncountedAtMs = this.world.timeline.nowMs;
        this.leaseBy = undefined;
      }
      if (id === "login-refused.json") this.refusals.clear();
      return;
    }
    switch (folder) {
      case "views.sql":
        this.visibility.onViews(Buffer.from(after?.bytes ?? []).toString());
        checkShown(this, by);
        break;
      case "columns.json":
        this.#columnsChanged();
        break;
      case "publications":
        if (isNew) checkPublication(this, change);
        else this.fail(`${key} is changed`);
        break;
      case "snapshots":
        this.#snapshotChanged(change, id, file);
        break;
      case "accounts": {
        const facts = this.processes.get(by);
        if (facts && id === "lease.json") facts.leaseFromMs ??= this.world.timeline.nowMs;
        if (id === "lease.json") checkTaken(this, change);
        break;
      }
      default:
        this.#stagedChanged(change, id, file);
        if (file === "plan.ndjson.gz" && isNew) {
          notePlan(this, id, by);
          this.plannedAt.set(id, this.reader.entries().at(-1)?.publication ?? "");
          this.plannedAtMs.set(id, this.world.timeline.nowMs);
          this.plannedBy.set(id, this.processes.get(by)?.version);
          noteRestart(this, id, by);
        }
        if (isNew && /^(?:plan|record-)/.test(file)) checkFormat(this, id, by);
        if (file !== "outcome.json") break;
        this.outcomesAtMs.set(id, this.world.timeline.nowMs);
        checkOutcome(this, id);
    }
  }

  #columnsChanged(): void {
    const now = this.reader.columns();
    if (this.#columns.some((name, at) => now[at] !== name))
      this.fail(`the tables had the columns ${this.#columns.join()}, and have ${now.join()}`);
    this.#columns = now;
  }

  #stagedChanged(change: ObjectChange, id: string, file: string): void {
    const { key, before, after, by } = change;
    if (before !== undefined) {
      if (file.startsWith("rows-") && after === undefined) checkRowsDeleted(this, id, change);
      // `check` tries whether it may write, and deletes.
      else if (!id.startsWith("check-")) this.fail(`${key} is changed`);
    } else if (file.startsWith("rows-")) this.rowsBy.set(key, by);
    else if (file.startsWith("record-") && !isCutOff(this, id)) checkRecord(this, id, change);
  }

  #snapshotChanged({ key, before, after, by }: ObjectChange, id: string, file: string): void {
    if (after === undefined && file === "_retired.json") this.retiredAtMs.delete(id);
    else if (after === undefined) checkDeletion(this, id, file);
    else if (before !== undefined && file !== "_held.json" && file !== "_retired.json")
      this.fail(`${key} is changed`);
    else if (file === "_manifest.json" && !isCutOff(this, id)) {
      checkParts(this, id);
      checkSnapshot(this, id);
    } else if (file === "_retired.json" && before === undefined) checkRetirement(this, id, by);
  }

  /** What cannot be read breaks a promise as well. */
  #check(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.fail(`a reader fails: ${String(error)}`);
    }
  }
}
