// A run's world without a network: a service that is a map, a clock that a test turns, a store in memory.

import { equal, rejects } from "node:assert/strict";
import { gunzipSync, gzipSync } from "node:zlib";
import { type AcceptOrRollback, acceptOrRollback } from "../../../lambdas/job/commands/decisions.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { type RunStart, run } from "../../../lambdas/job/run/run.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import type { EventService } from "../../../lambdas/job/service/event-service.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { readHead } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";
import { uuidOf } from "../../simulator/simulated-event.ts";
import { MemoryCatalog } from "../catalog/memory-catalog.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { aDetail } from "../service/events/a-detail.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { Crashed, CrashPoint, type Moment } from "./crash.ts";
import { portsWith, settingsWith } from "./run-defaults.ts";

export const ACCOUNT = "uk";
export const HOUR_MS = 60 * 60 * 1000;
export const DAY_MS = 24 * HOUR_MS;

/** What a test puts in the place of a port. */
export type PortChanges = Omit<Partial<RunPorts>, "store"> & { readonly store?: Store };

const NO_REQUESTS = { requests: 0, retries: 0, throttled: 0, logins: 0, bytes: 0 };

export class SmallWorld {
  readonly clock = new ManualClock(Date.UTC(2026, 0, 1));
  readonly store = new MemoryStore(this.clock);
  readonly catalog = new MemoryCatalog(this.store);
  readonly log = new LogLines();
  /** What the service lists: number of the event and version of its details. */
  readonly events = new Map<number, number>();
  /** Listed events whose details are gone. */
  readonly gone = new Set<number>();
  readonly dead = new Set<number>();
  /** A field that all details have beside the usual ones. */
  fieldOfNote: string | undefined;
  details = 0;
  /** Whose runs it makes. */
  account = ACCOUNT;
  settings: RunSettings;
  #pid = 0;
  #passing: NodeJS.Immediate | undefined;

  constructor(settings: Partial<RunSettings> = {}) {
    this.settings = settingsWith({ concurrency: 4, ...settings });
  }

  /** The service lists events 1 to `count`, all in this version. */
  show(count: number, version = 1): void {
    this.events.clear();
    for (let n = 1; n <= count; n += 1) this.events.set(n, version);
  }

  /** The account's part of the store. */
  get own(): AccountStore {
    return accountStore(this.store, this.account);
  }

  /** What is done under a clock that is ahead by so much. */
  async ahead<T>(byMs: number, work: () => Promise<T>): Promise<T> {
    this.clock.set(byMs);
    const done = await work();
    this.clock.set(-byMs);
    return done;
  }

  /** Publishes so many events, all in this version, and returns the snapshot. */
  publish(count: number, version = 1): Promise<string> {
    return this.#make(count, version, "PUBLISHED");
  }

  /** The same where the snapshot is held. */
  hold(count: number, version = 1): Promise<string> {
    return this.#make(count, version, "HELD");
  }

  truth(): ReadonlyMap<string, string> {
    const all = [...this.events].map(([n, version]): [string, string] => [uuid(n), eventText(n, version)]);
    return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  ports({ store = this.store, ...changes }: PortChanges = {}): RunPorts {
    this.#pid += 1;
    return portsWith({
      store: accountStore(store, this.account),
      catalog: this.catalog,
      clock: this.clock,
      logger: this.log,
      process: { host: "small", pid: this.#pid },
      isGone: ({ pid }) => pid !== undefined && this.dead.has(pid),
      openService: async () => this.#service(),
      ...changes,
    });
  }

  /** No two starts share an instant, as no two share one in life. */
  async run(start: Partial<RunStart> = {}, changes: PortChanges = {}): Promise<RunResult> {
    this.clock.advance(1);
    return run(this.ports(changes), this.settings, {
      trigger: start.runId ? "schedule" : "manual",
      ...start,
    });
  }

  /** A run whose process crashes right after an effect, or before it. Returns the run's id. */
  async crash(effect: string, start: Partial<RunStart> = {}, moment: Moment = "after"): Promise<string> {
    const ports = this.ports();
    const point = new CrashPoint(effect, moment);
    await rejects(this.run(start, { ...ports, ...point.wrap(ports) }), Crashed);
    this.dead.add(ports.process.pid ?? 0);
    return this.store.keys(layout(this.account).runs).at(-1)?.split("/")[2] ?? "";
  }

  async acceptOrRollback(request: AcceptOrRollback, changes: PortChanges = {}): Promise<RunResult> {
    this.clock.advance(1);
    return acceptOrRollback(this.ports(changes), request);
  }

  accept(snapshotId: string | null, force = false): Promise<RunResult> {
    return this.acceptOrRollback({ action: "accept", snapshotId: snapshotId ?? "", force });
  }

  rollback(snapshotId: string | null, pin = true): Promise<RunResult> {
    return this.acceptOrRollback({ action: "rollback", snapshotId: snapshotId ?? "", pin });
  }

  /** The table `events`: uuid and detail text. */
  async seen(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.catalog.events(ACCOUNT)).map(({ uuid, event }) => [uuid, event]));
  }

  /** The newest publication, as readers have it. */
  head(): Promise<Publication | undefined> {
    return readHead(this.own);
  }

  /** Changes the rows of a snapshot's first part. */
  async edit(snapshotId: string, change: (text: string) => string): Promise<void> {
    const stored = await this.store.read(partOf(snapshotId));
    this.store.put(partOf(snapshotId), gzipSync(change(gunzipSync(stored?.bytes ?? "").toString())));
  }

  /** Leaves rows that are whole, but are not those that were published. */
  damage(snapshotId: string): Promise<void> {
    return this.edit(snapshotId, (text) => text.replace('\\"version\\":', '\\"Version\\":'));
  }

  async #make(count: number, version: number, outcome: "PUBLISHED" | "HELD"): Promise<string> {
    this.show(count, version);
    const { row } = await this.run();
    equal(row.outcome, outcome);
    return row.run_id;
  }

  /** Once for all events that are refused at the same time, when all of them wait for their second question. */
  #letTimePass(): void {
    this.#passing ??= setImmediate(() => {
      this.#passing = undefined;
      this.clock.advance(AGAIN_AFTER_MS);
    });
  }

  #service(): EventService {
    return {
      logIn: async () => undefined,
      list: async () => {
        const events = [...this.events.keys()].map((n) => ({
          uuid: uuid(n),
          requestAs: uuid(n),
          listing: `{"uuid":"${uuid(n)}"}`,
        }));
        const sorted = events.toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1));
        return { events: sorted, rejected: 0, repeated: 0, overlapping: 0 };
      },
      detail: async (requestAs) => {
        this.details += 1;
        const found = [...this.events].find(([n]) => uuid(n) === requestAs && !this.gone.has(n));
        if (!found) {
          this.#letTimePass();
          return { kind: "left-out", reason: "gone" };
        }
        const event = eventText(...found).replace("}", this.fieldOfNote ? `,"${this.fieldOfNote}":1}` : "}");
        return aDetail(event, "2026-01-01");
      },
      close: async () => undefined,
      counts: NO_REQUESTS,
    };
  }
}

export function partOf(snapshotId: string): string {
  return layout(ACCOUNT).part(snapshotId, 0);
}

/** Between the two questions for an event that is gone. */
const AGAIN_AFTER_MS = 5_000;

const uuids = new Map<number, string>();
function uuid(n: number): string {
  const known = uuids.get(n) ?? uuidOf(`small ${n}`);
  uuids.set(n, known);
  return known;
}
const eventText = (n: number, version: number): string =>
  `{"uuid":"${uuid(n)}","date":"2026-01-01","version":${version}}`;

// Accounts with published snapshots and a held one.

export interface HeldWorld {
  readonly world: SmallWorld;
  readonly first: string;
  readonly second: string;
  readonly held: string;
}

/** Two published snapshots of ten events, then a held one of five. */
export async function heldWorld(): Promise<HeldWorld> {
  const world = new SmallWorld();
  const first = await world.publish(10, 1);
  const second = await world.publish(10, 2);
  const held = await world.hold(5, 3);
  return { world, first, second, held };
}

export type DueWorld = Omit<HeldWorld, "second">;

/** One snapshot published, a smaller one held, and the service has something new again. */
export async function dueWorld(): Promise<DueWorld> {
  const world = new SmallWorld();
  const first = await world.publish(10, 1);
  const held = await world.hold(5, 2);
  world.show(9, 3);
  return { world, first, held };
}
