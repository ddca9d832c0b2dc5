// A warehouse in memory with as many days of an account as a test wants: publications, runs, held snapshots.

import { styleHere } from "../../../bin/cli/output/next-command.ts";
import { makeReport, type Report } from "../../../bin/cli/report/report-page.ts";
import type { RequestLimit } from "../../../bin/cli/report/run-figures.ts";
import { NO_COUNTS } from "../../../lambdas/job/run/record/attempt.ts";
import type { Preview } from "../../../lambdas/job/run/record/held-mark.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { Field } from "../../../lambdas/job/snapshot/fields/field-profile.ts";
import type { Manifest } from "../../../lambdas/job/snapshot/files/manifest.ts";
import { formatRunId, layout, publicationId } from "../../../lambdas/job/storage/layout.ts";
import type { Publication } from "../../../lambdas/job/storage/publication.ts";
import { asOption } from "../../../lambdas/words/style.ts";
import { countsOf } from "../../job/catalog/publisher.ts";
import { aManifest } from "../../job/snapshot/files/manifests.ts";
import { MemoryStore } from "../../job/storage/memory-store.ts";
import { aPublication } from "../../job/storage/publications.ts";
import { seededRandom } from "../../simulator/seeded-random.ts";
import { PUBLISHED } from "../../sync/rows.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const START = Date.parse("2026-08-01T06:00:00.000Z");

export const aRun = (over: Partial<RunLogEntry> = {}): RunLogEntry => ({
  ...PUBLISHED,
  run_id: "2026-08-01T06-00-00.000Z",
  snapshot_id: "2026-08-01T06-00-00.000Z",
  ...{ listed: 12, events: 12, added: 0, changed: 0, removed: 0, gone: 0, forbidden: 0, rejected: 0 },
  ...{ requests: 14, retries: 0, throttled: 0, bytes: 40_000 },
  started_at: "2026-08-01T06:00:00.000Z",
  seconds: 5,
  ...over,
});

const FIELDS: readonly Field[] = ["/date", "/name", "/regions", "/scope", "/spend", "/uuid"].map(
  (pointer) => ({ pointer, count: 7, types: { string: 7 } }),
);

interface Day {
  readonly events?: number;
  readonly added?: number;
  readonly changed?: number;
  readonly removed?: number;
  readonly fields?: readonly Field[];
  readonly counts?: Partial<Manifest["counts"]>;
  readonly run?: Partial<RunLogEntry>;
  readonly publication?: Partial<Publication>;
}

/** One account. Each day has one run at six o'clock, unless there is another time between runs. */
export class AccountDays {
  readonly store: MemoryStore;
  readonly account: string;
  readonly clock: { nowMs: number };
  everyMs = DAY_MS;
  #publications = 0;
  #head: string | null = null;

  constructor(store: MemoryStore, account: string, clock: { nowMs: number }) {
    this.store = store;
    this.account = account;
    this.clock = clock;
  }

  publish({ events = 12, added = 0, changed = 0, removed = 0, ...day }: Day = {}): void {
    const { id, instant } = this.#begin();
    const counts = { ...countsOf(events), ...day.counts };
    counts.listed = counts.events + counts.gone + counts.forbidden + counts.rejected;
    this.snapshot(id, { counts, ...(day.fields ? { fields: day.fields } : {}) });
    this.#publications += 1;
    const publication = aPublication({
      publication: publicationId(this.#publications),
      snapshot_id: id,
      base_snapshot_id: this.#head,
      published_at: instant,
      run_id: id,
      events,
      added: this.#head === null ? events : added,
      changed,
      removed,
      ...day.publication,
    });
    this.#put(layout(this.account).publication(publication.publication), publication);
    this.#head = id;
    this.run({
      listed: counts.listed,
      events,
      added,
      changed,
      removed,
      requests: events + 2,
      seconds: events / 3,
      ...day.run,
    });
  }

  hold(reason: string, explanation: string, events = 4, preview?: Preview): void {
    const { id, instant } = this.#begin();
    this.snapshot(id, { counts: countsOf(events) });
    this.#put(layout(this.account).held(id), { reason, explanation, held_at: instant, preview });
    this.run({
      outcome: "HELD",
      reason,
      events,
      added: null,
      changed: null,
      removed: null,
      requests: events + 2,
      seconds: events / 3,
    });
  }

  fail(over: Partial<RunLogEntry>): void {
    this.#begin();
    this.run({
      outcome: "FAILED",
      snapshot_id: null,
      ...NO_COUNTS,
      ...over,
    });
  }

  /** Of the present day. */
  run(over: Partial<RunLogEntry>): void {
    const id = formatRunId(this.clock.nowMs);
    const row = aRun({
      run_id: id,
      snapshot_id: id,
      started_at: new Date(this.clock.nowMs).toISOString(),
      ...over,
    });
    this.#put(layout(this.account).runLog(id, row.attempt), row);
  }

  snapshot(id: string, over: Partial<Manifest>): void {
    const { counts = aManifest().counts } = over;
    const parts =
      counts.events === 0
        ? []
        : [{ file: "part-00000.ndjson.gz", rows: counts.events, bytes: 900, sha256: "b".repeat(64) }];
    const manifest = aManifest({
      account: this.account,
      snapshot_id: id,
      run_id: id,
      fields: FIELDS,
      counts,
      parts,
      ...over,
    });
    // Always as large, whatever a manifest holds: sizes are on the page.
    this.store.put(layout(this.account).manifest(id), JSON.stringify(manifest).padEnd(4_096));
    if (parts.length > 0)
      this.store.put(layout(this.account).part(id, 0), new Uint8Array(counts.events * 310));
  }

  #begin(): { readonly id: string; readonly instant: string } {
    this.clock.nowMs += this.everyMs;
    return { id: formatRunId(this.clock.nowMs), instant: new Date(this.clock.nowMs + 40_000).toISOString() };
  }

  #put(key: string, value: unknown): void {
    this.store.put(key, `${JSON.stringify(value)}\n`);
  }
}

export class ReportWorld {
  readonly clock = { nowMs: START };
  readonly store = new MemoryStore({ now: () => this.clock.nowMs });
  readonly limits = new Map<string, RequestLimit>();

  #lastMs = START;

  account(name: string): AccountDays {
    this.#lastMs = this.#latestMs();
    this.clock.nowMs = START;
    return new AccountDays(this.store, name, this.clock);
  }

  #latestMs(): number {
    return Math.max(this.#lastMs, this.clock.nowMs);
  }

  /** Three hours after the last day of any account. */
  report(...accounts: readonly string[]): Promise<Report> {
    return makeReport({
      store: this.store,
      accounts,
      limitOf: (account) => this.limits.get(account) ?? { requestsPerMinute: 200, limitWindowSeconds: 60 },
      warehouse: "./warehouse",
      nowMs: this.#latestMs() + 3 * 60 * 60 * 1000,
      styleFor: (account) =>
        styleHere(
          {},
          {
            setting: asOption,
            command: ({ command, snapshotId }) =>
              `brand-events-sync ${command} ${snapshotId} --account ${account}`,
          },
        ),
    });
  }
}

/** Days as they come: slow growth, some changes each day. */
export function ordinaryDays(account: AccountDays, days: number, seed = 1): void {
  const random = seededRandom(seed);
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  let events = 1_050;
  for (let day = 0; day < days; day += 1) {
    const [added, changed, removed] = [upTo(9), upTo(40), upTo(5)];
    events += added - removed;
    account.publish({
      events,
      added,
      changed,
      removed,
      run: { seconds: 300 + upTo(70), throttled: upTo(12) === 0 ? 2 : 0 },
    });
  }
}

/** A little of everything. */
export function smallWorld(): ReportWorld {
  const world = new ReportWorld();
  const uk = world.account("uk");
  ordinaryDays(uk, 4);
  const spend = { pointer: "/spend", count: 7, types: { string: 3, number: 4 } };
  uk.publish({
    events: 1_080,
    added: 12,
    changed: 44,
    removed: 2,
    fields: [{ pointer: "/name", count: 7, types: { string: 7 } }, spend],
    counts: { events: 1_080, gone: 3, forbidden: 1, rejected: 2, oversize: 1 },
    publication: { action: "accept" },
  });
  uk.fail({
    error_code: "SERVICE_UNAVAILABLE",
    error_message: "No usable response.",
    retries: 10,
    seconds: 95,
  });
  const uuids = {
    added: [UUID],
    changed: [],
    removed: [UUID],
    gone: [],
    forbidden: [UUID],
    oversize: [],
    too_deep: [],
    unreadable: [],
  };
  uk.hold("DROPPED", "811 events are 24.9 % fewer than the 1080 that readers see now.", 811, {
    base_snapshot_id: "2026-08-06T06-00-00.000Z",
    added: 5,
    changed: 8,
    removed: 274,
    gone: 2,
    forbidden: 1,
    rejected: 0,
    oversize: 0,
    too_deep: 0,
    unreadable: 0,
    uuids,
  });
  world.account("us");
  return world;
}

/** Of an event, so it must not be on the page. */
export const UUID = "1c48fc8e-ae9e-46d1-a7c1-4b108a0b85e6";
