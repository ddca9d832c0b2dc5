// What must be true in every world, checked whenever something happens. Knows the promises and none of the code.

import type { LoginObserver } from "../network/virtual-transport.ts";
import type { Start } from "../plan/plan.ts";
import type { Ended } from "../process/do-command.ts";
import type { ServedCall } from "../service/virtual-service.ts";
import type { GluePartition } from "../warehouse/glue-tables.ts";
import type { ObjectChange, StoredBytes } from "../warehouse/objects.ts";
import { ACCOUNT, type World } from "../world.ts";
import { checkLogins, type Login } from "./check-logins.ts";
import { checkEnd, checkOutcome } from "./check-outcomes.ts";
import { checkPublication } from "./check-publication.ts";
import { checkSnapshot } from "./check-snapshot.ts";
import { checkDeletion, checkShown, clockErrorMs } from "./check-visibility.ts";
import { Reader } from "./reader.ts";

/** Of clocks that are right. */
const CLOCK_ERROR_MS = 1_000;

/** When `events` showed a snapshot. */
export interface Shown {
  readonly snapshotId: string;
  readonly fromMs: number;
  untilMs: number;
}

export class Model implements LoginObserver {
  readonly world: World;
  /** The start of each process, by its name. */
  readonly starts = new Map<string, Start>();
  /** When the first process of a run began. */
  readonly runsFromMs = new Map<string, number>();
  readonly shown: Shown[] = [];
  readonly logins: Login[] = [];
  #reader: Reader | undefined;
  #violation: string | undefined;

  constructor(world: World) {
    this.world = world;
  }

  /** The first promise that was broken. */
  get violation(): string | undefined {
    return this.#violation;
  }

  get reader(): Reader {
    this.#reader ??= new Reader(this.world.objects, ACCOUNT);
    return this.#reader;
  }

  fail(what: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = what;
    this.world.story.tell("model", `finds: ${what}`);
  }

  onStart(process: string, start: Start): void {
    this.starts.set(process, start);
  }

  onRunId(_: string, runId: string): void {
    if (!this.runsFromMs.has(runId)) this.runsFromMs.set(runId, this.world.timeline.nowMs);
  }

  onEnd(process: string, ended: Ended): void {
    this.#check(() => checkEnd(this, process, ended));
  }

  onObject(change: ObjectChange): void {
    this.#check(() => this.#objectChanged(change));
  }

  onPartition(table: string, partition: GluePartition | undefined): void {
    if (table === "events" && partition) this.#show(partition.location);
  }

  onCall({ by, isOverRequests }: ServedCall): void {
    const { setting } = this.world.plan;
    // The lease carries instants: a clock that is wrong by so much makes used budget look free (docs/limits.md).
    const isPromised =
      setting.stricterRequestsPerMinute === undefined && clockErrorMs(this.world) <= CLOCK_ERROR_MS;
    if (isOverRequests && isPromised)
      this.fail(`${by} sends a request beyond the ${setting.requestsPerMinute} a minute of the service`);
  }

  onLogin(process: string, body: string): (status: number) => void {
    const password = /"password":"(\w+)"/.exec(body)?.[1] ?? "";
    const login: Login = { process, password, status: undefined, wasSessionRefused: false };
    this.#check(() => checkLogins(this, login));
    this.logins.push(login);
    return (status) => {
      login.status = status;
    };
  }

  onRefused(process: string): void {
    const last = this.logins.findLast((login) => login.process === process);
    if (last) last.wasSessionRefused = true;
  }

  #objectChanged(change: ObjectChange): void {
    const { key, before, after } = change;
    const [folder = "", , id = "", file = ""] = key.split("/");
    const isNew = before === undefined && after !== undefined;
    switch (folder) {
      case "views.sql":
        this.#show(eventsIn(after));
        break;
      case "publications":
        if (isNew) checkPublication(this, change);
        else this.fail(`${key} is changed`);
        break;
      case "snapshots":
        this.#snapshotChanged(change, id, file);
        break;
      case "accounts":
        break;
      default:
        // `check` tries whether it may write, and deletes.
        if (!isNew && !id.startsWith("check-")) this.fail(`${key} is changed`);
        if (file === "outcome.json") checkOutcome(this, id);
    }
  }

  #snapshotChanged({ key, before, after }: ObjectChange, id: string, file: string): void {
    if (after === undefined) checkDeletion(this, id, file);
    else if (before !== undefined && file !== "_held.json" && file !== "_retired.json")
      this.fail(`${key} is changed`);
    else if (file === "_manifest.json") checkSnapshot(this, id);
  }

  #show(location: string): void {
    const snapshotId = /snapshots\/\w+\/([^/]+)\//.exec(location)?.[1] ?? "";
    const { nowMs } = this.world.timeline;
    const last = this.shown.at(-1);
    if (last?.snapshotId === snapshotId) return;
    if (last) last.untilMs = nowMs;
    this.shown.push({ snapshotId, fromMs: nowMs, untilMs: Number.POSITIVE_INFINITY });
    this.#check(() => checkShown(this, snapshotId));
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

/** The files of the table `events` in the SQL of a laptop's catalog. */
function eventsIn(views: StoredBytes | undefined): string {
  const sql = Buffer.from(views?.bytes ?? []).toString();
  const from = sql.indexOf("VIEW events AS");
  return sql.slice(from, sql.indexOf("VIEW event_snapshots", from));
}
