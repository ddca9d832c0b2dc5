// Defects of what is staged: rows, records, the parts that are made of them, and uploads in parts.

import type { PlantedDefect } from "./planted-defect.ts";

export const STAGING_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "rows that another process has staged are taken for one's own",
    file: "run/collect/collect.ts",
    from: "store.keys.rows(runId, place, random.token())",
    to: 'store.keys.rows(runId, place, "rows")',
    seed: 8,
  },
  {
    name: "rows that another process has staged are not verified",
    file: "run/publish/build-snapshot.ts",
    from: "if (facts.hasCounted(record.place)) continue;",
    to: "if (facts.hasCounted(record.place) || record.place > 0) continue;",
    seed: 111,
  },
  {
    name: "left-out events of a range are not recorded with it",
    file: "run/collect/collect.ts",
    from: "leftOut.push({ uuid: result.uuid, reason: result.leftOut });",
    to: 'if (result.leftOut !== "gone") leftOut.push({ uuid: result.uuid, reason: result.leftOut });',
    seed: 248,
  },
  {
    name: "a column has the value of another one",
    file: "run/collect/collect.ts",
    from: "const row = { uuid, event_date: eventDate, scope, event, listing };",
    to: "const row = { uuid, event_date: eventDate, scope: scope ?? eventDate, event, listing };",
    seed: 1,
  },
  {
    name: "the listing of an event is its detail",
    file: "run/collect/collect.ts",
    from: "const row = { uuid, event_date: eventDate, scope, event, listing };",
    to: "const row = { uuid, event_date: eventDate, scope, event, listing: event };",
    seed: 1,
  },
  {
    name: "columns of one's own are published before the tables have them",
    file: "run/publish/commit.ts",
    from: '    await recordColumnsOf(ports, manifest, action.action === "run");\n',
    to: "",
    seed: 7,
  },
  {
    name: "an upload in parts is completed without its last one",
    file: "storage/s3/s3-store.ts",
    from: "MultipartUpload: { Parts },",
    to: "MultipartUpload: { Parts: Parts.slice(0, Math.max(1, Parts.length - 1)) },",
    seed: 13,
  },
  {
    name: "an upload in parts is completed without a condition",
    file: "storage/s3/s3-store.ts",
    from: 'MultipartUpload: { Parts }, IfNoneMatch: "*" };',
    to: "MultipartUpload: { Parts } };",
    seed: 214,
  },
  {
    name: "an upload in parts whose object was there first stays open",
    file: "storage/s3/s3-store.ts",
    from: "version = await this.#completeUpload(upload, sent);\n      return version;",
    to: 'version = (await this.#completeUpload(upload, sent)) ?? "";\n      return version || undefined;',
    seed: 214,
  },
  {
    name: "an upload in parts that failed stays open",
    file: "storage/s3/s3-store.ts",
    from: "let version: string | undefined;",
    to: 'let version: string | undefined = "";',
    seed: 152,
  },
  {
    name: "plans have another checksum than those of an earlier version, and the same mark",
    file: "snapshot/staging/plan.ts",
    from: 'readonly #hash = createHash("sha256");',
    to: 'readonly #hash = createHash("sha512-256");',
    seed: 48,
  },
];
