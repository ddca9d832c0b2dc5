// PUBLISH: from staged shards to the snapshot that readers see, or to one that is held.

import type { Plan } from "../snapshot/plan.ts";
import type { Publication } from "../storage/publication-log.ts";
import { commitRun } from "./commit.ts";
import { type Conclusion, countsOf, type RunFacts } from "./conclusion.ts";
import { guard, type Hold } from "./guard.ts";
import { hold, readHold } from "./hold.ts";
import { mergeShards } from "./merge.ts";
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
  const manifest = await mergeShards(host, settings, plan);
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

  const commit = await commitRun(host, account, manifest);
  if (commit.kind === "superseded") return superseded(manifest.run_id, commit.head);
  if (commit.kind === "pinned") {
    const pinned = pinnedBy(commit.head);
    await hold(store, manifest, pinned, clock.now());
    return held(manifest.snapshot_id, pinned);
  }
  facts.counts = countsOf(manifest, commit.publication);
  await host.catalog.follow(account);
  return { outcome: "PUBLISHED", reason: null };
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
    explanation: `${explanation} The snapshot ${snapshotId} is complete and kept, but in no table; readers see what they saw before.`,
  };
}

function pinnedBy(head: Publication): Hold {
  return {
    reason: "PINNED",
    explanation: `The account is pinned to the snapshot ${head.snapshot_id} (publication ${head.publication}).`,
  };
}
