// The first half of PUBLISH: shards, read back and verified, become parts, left-out list and manifest.

import { SyncError } from "../../errors/sync-error.ts";
import { writeDigests } from "../../snapshot/compare/digests.ts";
import type { KeptRows } from "../../snapshot/compare/kept-rows.ts";
import { RowDigests } from "../../snapshot/compare/row-digests.ts";
import { FieldProfiler } from "../../snapshot/fields/field-profile.ts";
import type { RequiredFields } from "../../snapshot/fields/required-fields.ts";
import { damaged, MAKE_AGAIN } from "../../snapshot/files/damaged.ts";
import type { LineBlock } from "../../snapshot/files/gzip/line-blocks.ts";
import { createManifest, type Manifest } from "../../snapshot/files/manifest.ts";
import { writeBlocks } from "../../snapshot/files/parts.ts";
import { writeLeftOut } from "../../snapshot/files/write-left-out.ts";
import { eventColumns } from "../../snapshot/rows/lifted-column.ts";
import { parseRow } from "../../snapshot/rows/row.ts";
import type { Plan } from "../../snapshot/staging/plan.ts";
import { readShard } from "../../snapshot/staging/shard.ts";
import type { LeftOut } from "../../snapshot/staging/staged-result.ts";
import { layout } from "../../storage/layout.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";

/** What sees every row of the snapshot, whichever start fetched it. */
export interface MergeWitnesses {
  readonly required: Pick<RequiredFields, "add">;
  readonly kept: Pick<KeptRows, "add">;
}

/** Makes the snapshot of a completely staged run: a pure function of plan and shards, but for the manifest's timings. */
export async function mergeShards(
  ports: RunPorts,
  settings: RunSettings,
  plan: Plan,
  witnesses: MergeWitnesses,
): Promise<Manifest> {
  const { store } = ports;
  const { account } = settings;
  const { run_id: runId } = plan.header;
  const leftOut: LeftOut[] = [];
  const profiler = new FieldProfiler();
  const rowDigests = new RowDigests();
  const findings = { ...witnesses, leftOut, profiler, rowDigests };
  const parts = await writeBlocks(stagedRows(ports, account, plan, findings), {
    store,
    key: (index) => layout.part(account, runId, index),
  });
  await writeLeftOut(store, layout.leftOut(account, runId), leftOut);

  const events = parts.reduce((sum, part) => sum + part.rows, 0);
  if (events + leftOut.length !== plan.header.events) {
    throw new SyncError(
      "SNAPSHOT_INCOMPLETE",
      `Of ${plan.header.events} planned events ${events} have a row and ${leftOut.length} were left out: they do not add up, so nothing is published. Start again with --fresh.`,
      { fields: { planned: plan.header.events, events, left_out: leftOut.length } },
    );
  }
  const digests = await writeDigests(store, layout.digests(account, runId), rowDigests.records);
  const left = (reason: LeftOut["reason"]): number => leftOut.filter((one) => one.reason === reason).length;
  const oversize = left("oversize");
  return createManifest(store, layout.manifest(account, runId), {
    version: 1,
    account,
    snapshot_id: runId,
    run_id: runId,
    fingerprint: plan.header.fingerprint,
    plan_sha256: plan.header.sha256,
    counts: {
      listed: plan.header.listed,
      events,
      gone: left("gone"),
      forbidden: left("forbidden"),
      rejected: plan.header.rejected + oversize,
      oversize,
      repeated: plan.header.repeated,
    },
    parts: parts.map(({ stored: _, ...part }) => part),
    stored: parts.map(({ stored }) => stored),
    ...(digests ? { digests } : {}),
    columns: eventColumns(settings.lifted),
    lifted: settings.lifted.map(({ name, pointer, type, typedBy = runId }) =>
      type === undefined ? { name, pointer } : { name, pointer, type, typed_by: typedBy },
    ),
    ...profiler.profile(),
    started_at: plan.header.created_at,
    finished_at: new Date(ports.clock.now()).toISOString(),
    program: { name: "brand-events-sync", version: ports.version },
    settings: {
      base_url: settings.baseUrl,
      is_listed: settings.isListed,
      list_pointer: settings.listPointer ?? null,
      detail_pointer: settings.detailPointer ?? null,
    },
  });
}

/** Collected beside the rows. */
interface Findings extends MergeWitnesses {
  readonly leftOut: LeftOut[];
  readonly profiler: FieldProfiler;
  readonly rowDigests: RowDigests;
}

/** Every shard's rows in plan order. */
async function* stagedRows(
  ports: RunPorts,
  account: string,
  plan: Plan,
  findings: Findings,
): AsyncGenerator<LineBlock> {
  for (let index = 0; index < plan.shards; index += 1) {
    ports.signal.throwIfAborted();
    const expected = plan.shard(index).map(({ uuid }) => uuid);
    const key = layout.shard(account, plan.header.run_id, index);
    const trailer = yield* readShard(ports.store, key, index, expected, (line) =>
      lookAt(line, key, findings),
    );
    findings.leftOut.push(...trailer.left_out);
  }
}

function lookAt(line: string, key: string, { profiler, required, rowDigests, kept }: Findings): void {
  try {
    const row = parseRow(line);
    profiler.add(row.event);
    required.add(row.event);
    kept.add(row, rowDigests.add(row.uuid, row.event));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof SyncError)) throw error;
    throw damaged(key, "it holds a row that cannot be read", MAKE_AGAIN); // the parser's own error quotes it
  }
}
