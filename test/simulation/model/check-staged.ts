// What is staged of a run: records that are one chain, each of rows that its maker wrote, and parts of nothing else.

import { z } from "zod";
import type { ObjectChange } from "../warehouse/objects.ts";
import { noteLeftOut } from "./check-refusals.ts";
import type { Model } from "./model.ts";

const RECORD = z.object({
  place: z.number(),
  end: z.number(),
  rows: z.object({ file: z.string() }).nullable(),
  left_out: z.array(z.object({ uuid: z.string(), reason: z.string() })),
});
type SeenRecord = z.infer<typeof RECORD>;

const folder = ({ account }: Model, runId: string): string => `runs/${account.name}/${runId}/`;

/** A record is made: of a range that begins where the one before it ends, and of rows of the same process. */
export function checkRecord(model: Model, runId: string, { key, by }: ObjectChange): void {
  const records = recordsOf(model, runId);
  const made = records.find((record) => key.endsWith(`record-${String(record.place).padStart(8, "0")}.json`));
  if (made === undefined) {
    model.fail(`${key} says another place than its name`);
    return;
  }
  const before = records.filter(({ place }) => place < made.place).at(-1);
  if ((before?.end ?? 0) !== made.place) model.fail(`${key} does not begin where the one before it ends`);
  noteLeftOut(model, runId, by, made.left_out);
  if (made.rows === null) return;
  const writer = model.rowsBy.get(`${folder(model, runId)}${made.rows.file}`);
  if (writer !== by) model.fail(`${by} records rows of ${writer ?? "no process"} as its own`);
}

/** A process deletes its own rows where another one was first, and no others. */
export function checkRowsDeleted(model: Model, runId: string, { key, by }: ObjectChange): void {
  const isRecorded = recordsOf(model, runId).some(({ rows }) => rows && key.endsWith(`/${rows.file}`));
  if (isRecorded) model.fail(`${by} deletes ${key}, which a record names`);
  if (model.rowsBy.get(key) !== by) model.fail(`${by} deletes ${key}, which it has not written`);
}

/** A snapshot is complete: its parts are the files of rows of all records, in order, byte by byte. */
export function checkParts(model: Model, runId: string): void {
  const { objects } = model.world;
  const records = recordsOf(model, runId);
  const staged = records.flatMap(({ rows }) => (rows ? [`${folder(model, runId)}${rows.file}`] : []));
  const parts = objects
    .keysAsWritten(model.reader.snapshotFolder(runId))
    .filter((key) => !(key.split("/").at(-1) ?? "").startsWith("_"));
  const versions = (keys: readonly string[]): string =>
    JSON.stringify(keys.map((key) => objects.asWritten(key)?.version));
  if (versions(parts) !== versions(staged))
    model.fail(`the parts of ${runId} are not what is recorded of it`);
}

/** In the order of the plan. */
function recordsOf(model: Model, runId: string): readonly SeenRecord[] {
  const { world } = model;
  const keys = world.objects.keysAsWritten(`${folder(model, runId)}record-`);
  return keys.map((key) =>
    RECORD.parse(JSON.parse(Buffer.from(world.objects.asWritten(key)?.bytes ?? []).toString())),
  );
}
