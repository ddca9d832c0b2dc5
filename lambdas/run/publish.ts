// PUBLISH: from staged shards to the snapshot that readers see, or to one that is held.

import type { Manifest } from "../snapshot/manifest.ts";
import type { Plan } from "../snapshot/plan.ts";
import { findPublicationOf, type Publication } from "../storage/publication-log.ts";
import type { Store } from "../storage/store.ts";
import { checkColumns } from "./columns.ts";
import { commit } from "./commit.ts";
import { type Conclusion, countsOf, type RunFacts } from "./conclusion.ts";
import { logFieldNews } from "./field-news-log.ts";
import { guard, type Hold } from "./guard.ts";
import { hold, readHold } from "./hold.ts";
import { mergeShards } from "./merge.ts";
import { outOfTime, Pace } from "./pace.ts";
import type { RunHost, RunSettings } from "./run-host.ts";

export interface PublishTask {
  readonly host: RunHost;
  readonly settings: RunSettings;
  readonly plan: Plan;
  readonly head: Publication | undefined;
  readonly facts: RunFacts;
}

/** The last thing that a run does; design section 6. */
export async function publishRun(task: PublishTask): Promise<Conclusion> {
  const { host, settings, plan, head, facts } = task;
  const { store, clock } = host;
  const { account } = settings;
  const pace = new Pace(host);
  const rows = plan.events.length;
  if (!pace.covers(rows)) throw outOfTime(`all ${rows} events are staged`);
  const manifest = await mergeShards(host, settings, plan);
  pace.advance(rows);
  pace.endUnit();
  facts.snapshotId = manifest.snapshot_id;
  facts.counts = countsOf(manifest);

  const { listed, events, gone, forbidden, rejected } = manifest.counts;
  const missing = gone + forbidden + rejected;
  const holding =
    (await readHold(store, account, manifest.snapshot_id)) ??
    guard({ listed, events, missing, headEvents: head?.events }, settings);
  if (holding) {
    await hold(store, manifest, holding, clock.now());
    return held(manifest.snapshot_id, holding);
  }

  // Comparing with the head reads the rows of both.
  if (!pace.covers(rows + (head?.events ?? 0))) throw outOfTime(`the snapshot of ${rows} events is made`);
  await checkColumns(host.catalog, settings.lifted); // another account may have published since this run began
  const action = { action: "run", run_id: manifest.run_id, pinned: false } as const;
  const published = await commit(host, manifest, action, (now) => decide(store, manifest, now));
  if ("end" in published) {
    if (published.end === "superseded") return superseded(manifest.run_id, published.head);
    const pinned = pinnedBy(published.head);
    await hold(store, manifest, pinned, clock.now());
    return held(manifest.snapshot_id, pinned);
  }
  const publication = "own" in published ? published.own : published;
  facts.counts = countsOf(manifest, publication);
  await host.catalog.follow(account);
  await logFieldNews(host, manifest, publication);
  return { outcome: "PUBLISHED", reason: null };
}

type Verdict =
  | { readonly own: Publication }
  | { readonly end: "superseded" | "pinned"; readonly head: Publication };

/** Design section 6, step 3: whatever process got there first, one publication carries this run. */
async function decide(
  store: Store,
  { account, run_id: runId, snapshot_id: snapshotId }: Manifest,
  head: Publication | undefined,
): Promise<Verdict | undefined> {
  const own = await findPublicationOf(store, account, runId);
  if (own) return { own };
  if (head && head.snapshot_id >= snapshotId) return { end: "superseded", head };
  return head?.pinned ? { end: "pinned", head } : undefined;
}

/** A later snapshot is what readers see, so this run has nothing to give them. */
export function superseded(runId: string, head: Publication): Conclusion {
  return {
    outcome: "SUPERSEDED",
    reason: "LATER_HEAD",
    explanation: `Readers already see the snapshot ${head.snapshot_id}, which is later than this run (${runId}). If that instant lies in the future, check the clock of the machine that made it.`,
  };
}

function held(snapshotId: string, { reason, explanation }: Hold): Conclusion {
  return {
    outcome: "HELD",
    reason,
    explanation: `${explanation} The snapshot ${snapshotId} is complete and kept, but in no table; readers see what they saw before. accept ${snapshotId} publishes it.`,
  };
}

function pinnedBy(head: Publication): Hold {
  return {
    reason: "PINNED",
    explanation: `The account is pinned to the snapshot ${head.snapshot_id} (publication ${head.publication}).`,
  };
}
