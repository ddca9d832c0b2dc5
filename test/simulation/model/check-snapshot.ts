// A snapshot: what is staged of it, its parts and files, and that each event is what the service had at some instant.

import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import type { ObjectChange } from "../warehouse/objects.ts";
import { noteLeftOut, wasRefused } from "./check-answers.ts";
import type { Model } from "./model.ts";

export function checkSnapshot(model: Model, snapshotId: string): void {
  const { world } = model;
  const { timeline } = world;
  const { content } = model.account.service;
  const fromMs = model.runsFromMs.get(snapshotId);
  if (fromMs === undefined) {
    model.fail(`no process has made the run ${snapshotId}`);
    return;
  }
  const toMs = timeline.nowMs;
  const rows = model.reader.rows(snapshotId) ?? [];
  const leftOut = model.reader.leftOut(snapshotId);
  const named = new Set([...rows, ...leftOut].map(({ uuid }) => uuid));
  if (named.size !== rows.length + leftOut.length) model.fail(`${snapshotId} names an event twice`);
  if (rows.some(({ uuid }, index) => uuid <= (rows[index - 1]?.uuid ?? "")))
    model.fail(`the rows of ${snapshotId} are not sorted`);
  const lifted = model.reader.manifest(snapshotId)?.lifted ?? [];
  for (const row of rows) {
    const { uuid, event, event_date: date, scope } = row;
    if (!content.wasEver(uuid, fromMs, toMs, ({ text, refusal }) => text === event && !refusal))
      model.fail(`${snapshotId} has ${uuid} as the service never had it in that time`);
    if (!content.wasEver(uuid, fromMs, toMs, ({ listing, isListed }) => listing === row.listing && isListed))
      model.fail(`${snapshotId} has ${uuid} as the service never listed it in that time`);
    const areRight = content.wasEver(uuid, fromMs, toMs, ({ text, columns }) => {
      const has = (member: string, value: unknown): boolean => value === (columns[member] ?? null);
      const hasLifted = lifted.every(({ name, pointer }) => has(pointer.slice(1), row[name]));
      return text === event && has("date", date) && has("scope", scope) && hasLifted;
    });
    if (!areRight) model.fail(`${snapshotId} has columns of ${uuid} that its event has not`);
  }
  for (const { uuid, reason } of leftOut) {
    if (reason === "oversize") continue; // only the network makes a body too large here
    const by = model.processes.get(model.leftOutBy.get(`${snapshotId} ${uuid}`) ?? "");
    if (reason === "unreadable" && by && model.isTroubled(by.start.id)) continue;
    if (!wasRefused(model, uuid, (refusal) => refusal.reason === reason && refusal.atMs >= fromMs))
      model.fail(`${snapshotId} leaves out ${uuid} (${reason}), which was not refused`);
  }
  // Pages are numbered: where entries go away between two requests, others move to a page that was read before.
  const { pageSize, isShuffled } = world.plan.setting;
  const mayHaveMoved = pageSize !== undefined && (isShuffled || content.hasChanged(fromMs, toMs));
  // An earlier version takes an error in the place of a list for a list without events.
  const isOfToday = model.plannedBy.get(snapshotId) === "today";
  const listed = model.lists.get(snapshotId)?.uuids;
  if (listed && listed.symmetricDifference(named).size > 0)
    model.fail(`${snapshotId} does not have what the service listed`);
  checkFiles(model, snapshotId);
  for (const uuid of content.uuids) {
    const wasListed = content.wasEver(uuid, fromMs, toMs, ({ isListed }) => isListed);
    const wasUnlisted = content.wasEver(uuid, fromMs, toMs, ({ isListed }) => !isListed);
    if (named.has(uuid) && !wasListed) model.fail(`${snapshotId} has ${uuid}, which was never listed`);
    if (!named.has(uuid) && !wasUnlisted && !mayHaveMoved && isOfToday)
      model.fail(`${snapshotId} lacks ${uuid}, which was always listed`);
  }
}

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

const HEADER = z.object({ version: z.number() });

/** A process has made a plan, or staged work of one. All those that its version works at have one format. */
export function checkFormat(model: Model, runId: string, process: string): void {
  const version = model.processes.get(process)?.version;
  const { objects, plan } = model.world;
  const stored = objects.asWritten(`runs/${model.account.name}/${runId}/plan.ndjson.gz`);
  if (version === undefined || stored === undefined || !plan.setting.hasTwoVersions) return;
  const [header = ""] = gunzipSync(stored.bytes).toString().split("\n", 1);
  const { version: format } = HEADER.parse(JSON.parse(header));
  const known = model.formats.get(version) ?? format;
  model.formats.set(version, known);
  if (known !== format)
    model.fail(
      `${process} works at a plan of the format ${format}, and its version, ${version}, at ${known} before`,
    );
}

const EVERY_ROW = ["uuid", "event_date", "scope", "event", "listing"];

function checkFiles(model: Model, snapshotId: string): void {
  const { reader, world } = model;
  const manifest = reader.manifest(snapshotId);
  if (manifest === undefined) return;
  const fail = (what: string): void => model.fail(`the manifest of ${snapshotId} says ${what}`);
  const folder = reader.snapshotFolder(snapshotId);
  const bytesOf = (file: string): Uint8Array =>
    world.objects.asWritten(`${folder}${file}`)?.bytes ?? new Uint8Array();
  for (const [index, { file, rows, ...plain }] of manifest.parts.entries()) {
    const zipped = bytesOf(file);
    const bytes = gunzipSync(zipped);
    if (!isFile(bytes, plain)) fail(`another checksum of ${file}`);
    if (!isFile(zipped, manifest.stored[index])) fail(`another checksum of ${file} as it is stored`);
    if (bytes.toString().split("\n").length - 1 !== rows) fail(`${rows} rows in ${file}`);
  }
  const { counts, left_out: leftOutFile } = manifest;
  const rows = reader.rows(snapshotId) ?? [];
  const leftOut = reader.leftOut(snapshotId);
  const missing = (reason: string): number => leftOut.filter((one) => one.reason === reason).length;
  if (counts.events !== rows.length) fail(`${counts.events} events`);
  if (counts.gone !== missing("gone") || counts.forbidden !== missing("forbidden"))
    fail("other events that are missing");
  if (counts.unreadable !== missing("unreadable")) fail("other events that cannot be read");
  if (counts.listed !== counts.events + counts.gone + counts.forbidden + counts.rejected) fail("another sum");
  if (leftOutFile ? !isFile(bytesOf("_left_out.ndjson"), leftOutFile) : leftOut.length > 0)
    fail("another checksum of what is left out");
  const names = [...EVERY_ROW, ...manifest.lifted.map(({ name }) => name)];
  if (JSON.stringify(manifest.columns) !== JSON.stringify(names)) fail("other columns");
  if (rows.some((row) => JSON.stringify(Object.keys(row)) !== JSON.stringify(names)))
    fail("other columns than a row has");
}

function isFile(
  content: Uint8Array,
  said: { readonly bytes: number; readonly sha256: string } | undefined,
): boolean {
  return said?.bytes === content.length && said.sha256 === createHash("sha256").update(content).digest("hex");
}

/**
 * The tables have the columns of a snapshot before it is published, whatever their order: a held snapshot may be accepted
 * after another account has brought one of its columns. Readers take columns by name.
 */
export function checkColumns(model: Model, snapshotId: string): void {
  const lifted = model.reader.manifest(snapshotId)?.lifted.map(({ name }) => name) ?? [];
  const there = model.reader.columns();
  if (lifted.some((name) => !there.includes(name)))
    model.fail(`${snapshotId} has the columns ${lifted.join()}, and the tables ${there.join()}`);
}
