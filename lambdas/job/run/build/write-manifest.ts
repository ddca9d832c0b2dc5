// The last files of a snapshot: its digests, and the manifest that names everything.

import { writeDigests } from "../../snapshot/compare/digests.ts";
import type { Profile } from "../../snapshot/fields/field-profile.ts";
import { createManifest, type Manifest } from "../../snapshot/files/manifest.ts";
import type { WrittenPart } from "../../snapshot/files/part-info.ts";
import { eventColumns } from "../../snapshot/rows/lifted-column.ts";
import type { LeftOut } from "../../snapshot/staging/staged-result.ts";
import { layout } from "../../storage/layout.ts";
import type { BuildTask } from "./build-task.ts";

/** What a snapshot is made of, beside its plan. */
export interface MadeSnapshot {
  readonly parts: readonly WrittenPart[];
  readonly leftOut: readonly LeftOut[];
  /** Of the file that lists them, which exists. */
  readonly leftOutFile: Manifest["left_out"];
  /** Of all rows, in order. */
  readonly digests: Uint8Array;
  readonly profile: Profile;
}

/** Returns the manifest, or the one that exists already. Throws `STORE_CORRUPT` where that one is of another snapshot. */
export async function writeManifest(
  { ports, settings, plan }: Pick<BuildTask, "ports" | "settings" | "plan">,
  { parts, leftOut, leftOutFile, digests: records, profile }: MadeSnapshot,
): Promise<Manifest> {
  const { account } = settings;
  const { run_id: runId, ...header } = plan.header;
  const digests = await writeDigests(ports.store, layout.digests(account, runId), records);
  const left = (reason: LeftOut["reason"]): number => leftOut.filter((one) => one.reason === reason).length;
  const [oversize, tooDeep] = [left("oversize"), left("too_deep")];
  return createManifest(ports.store, layout.manifest(account, runId), {
    version: 1,
    account,
    snapshot_id: runId,
    run_id: runId,
    fingerprint: header.fingerprint,
    plan_sha256: header.sha256,
    counts: {
      listed: header.listed,
      events: parts.reduce((sum, { rows }) => sum + rows, 0),
      gone: left("gone"),
      forbidden: left("forbidden"),
      rejected: header.rejected + oversize + tooDeep,
      oversize,
      repeated: header.repeated,
      too_deep: tooDeep,
    },
    parts: parts.map(({ stored: _, ...part }) => part),
    stored: parts.map(({ stored }) => stored),
    ...(digests ? { digests } : {}),
    columns: eventColumns(settings.lifted),
    lifted: settings.lifted.map(({ name, pointer, type, typedBy = runId }) =>
      type === undefined ? { name, pointer } : { name, pointer, type, typed_by: typedBy },
    ),
    ...profile,
    started_at: header.created_at,
    finished_at: new Date(ports.clock.now()).toISOString(),
    program: { name: "brand-events-sync", version: ports.version },
    settings: {
      base_url: settings.baseUrl,
      is_listed: settings.isListed,
      list_pointer: settings.listPointer ?? null,
      detail_pointer: settings.detailPointer ?? null,
    },
    ...(leftOutFile ? { left_out: leftOutFile } : {}),
  });
}
