// Changes of a publication that have lost files are made again, from the snapshots that they lie between.

import { isDeepStrictEqual } from "node:util";
import { isDamage } from "../../errors/sync-error.ts";
import { readManifest } from "../../snapshot/files/manifest.ts";
import { incompleteChanges } from "../../snapshot/files/units.ts";
import { type Publication, readLog } from "../../storage/publication-log.ts";
import type { Body, Store } from "../../storage/store.ts";
import type { RunPorts } from "../run-ports.ts";
import { writeChanges } from "./commit.ts";

type MendPorts = Pick<RunPorts, "store" | "catalog" | "logger" | "signal">;

/** All that can be. What a person has given up as lost is not among them. */
export async function mendChanges(ports: MendPorts): Promise<void> {
  const { store, catalog } = ports;
  const incomplete = await incompleteChanges(store, await readLog(store));
  let hasMended = false;
  for (const { publication } of incomplete)
    hasMended = (await remakeChanges(ports, publication)) || hasMended;
  if (hasMended) await catalog.refresh(store.account);
}

/**
 * False, and nothing is written, where one of the two snapshots is damaged or deleted, where other numbers of changes come
 * out than the publication says, or where a file that is left holds others.
 */
export async function remakeChanges(
  ports: Pick<RunPorts, "store" | "logger" | "signal">,
  { publication, snapshot_id: snapshotId, base_snapshot_id: base, added, changed, removed }: Publication,
): Promise<boolean> {
  const { store, logger } = ports;
  const left = new Set<string>();
  const prefix = store.keys.changes(publication, snapshotId);
  for await (const { key } of store.list(prefix)) left.add(key);
  const key = (index: number): string => store.keys.changesPart(publication, snapshotId, index);
  try {
    const manifest = await readManifest(store, snapshotId);
    const target = onlyVerifying(store, left);
    const { counts, parts } = await writeChanges(ports, { key, base, manifest, target });
    if (!isDeepStrictEqual(counts, { added, changed, removed })) return false;
    for (const { file } of parts) left.delete(`${prefix}${file}`);
    if (left.size > 0) return false;
    await writeChanges(ports, { key, base, manifest });
    logger.info(`made the changes of the publication ${publication} again, whose files were missing`);
    return true;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return false;
  }
}

/** Creates nothing. A file that is there is verified, as always. */
function onlyVerifying(store: Store, there: ReadonlySet<string>): Pick<Store, "create" | "open"> {
  return {
    open: (key) => store.open(key),
    create: async (key: string, body: Body) => {
      if (!(body instanceof Uint8Array)) for await (const _ of body);
      return there.has(key) ? undefined : "not written";
    },
  };
}
