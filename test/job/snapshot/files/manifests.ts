// Manifests as tests need them: a valid one, with what matters to the test put in its place.

import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";

const ID = "2026-11-21T06-00-00.000Z";

/** Of a snapshot with 7 events in 2 parts. */
export const aManifest = (over: Partial<Manifest> = {}): Manifest => ({
  version: 1,
  account: "uk",
  snapshot_id: ID,
  run_id: ID,
  fingerprint: "f1",
  plan_sha256: "a".repeat(64),
  log_end: null,
  counts: {
    listed: 12,
    events: 7,
    gone: 1,
    forbidden: 1,
    rejected: 3,
    oversize: 2,
    repeated: 4,
    too_deep: 0,
    unreadable: 0,
  },
  parts: [
    { file: "part-00000.ndjson.gz", rows: 5, bytes: 50, sha256: "b".repeat(64) },
    { file: "part-00001.ndjson.gz", rows: 2, bytes: 20, sha256: "c".repeat(64) },
  ],
  stored: [
    { bytes: 30, sha256: "1".repeat(64) },
    { bytes: 15, sha256: "2".repeat(64) },
  ],
  columns: ["uuid", "event_date", "scope", "event", "listing"],
  lifted: [],
  fields: [{ pointer: "/uuid", count: 7, types: { string: 7 } }],
  fields_complete: true,
  started_at: "2026-11-21T06:00:00.000Z",
  finished_at: "2026-11-21T06:00:09.000Z",
  program: { name: "brand-events-sync", version: "0.1.0" },
  settings: {
    base_url: "https://service.example",
    is_listed: "true",
    list_pointer: null,
    detail_pointer: "/data",
  },
  left_out: { bytes: 232, sha256: "e".repeat(64) },
  ...over,
});

/** Of a snapshot with these lifted columns, each from the pointer of its own name. */
export const liftedManifest = (names: readonly string[], over: Partial<Manifest> = {}): Manifest => {
  const manifest = aManifest(over);
  return {
    ...manifest,
    columns: [...manifest.columns, ...names],
    lifted: names.map((name) => ({ name, pointer: `/${name}` })),
  };
};
