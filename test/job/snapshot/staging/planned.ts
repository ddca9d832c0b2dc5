// A plan of a few events, rows of them, and ranges as another process writes them.

import { hash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { RangeRecord } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import { createPlan, type Plan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import type { StoredKey } from "../../../../lambdas/job/storage/store.ts";
import { uuidOf } from "../../../simulator/simulated-event.ts";
import type { MemoryStore } from "../../storage/memory-store.ts";
import { aRow } from "../rows/a-row.ts";

export const ACCOUNT = "uk";
export const RUN = "2026-11-21T06-00-00.000Z";

const UUIDS = Array.from({ length: 100 }, (_, n) => uuidOf(`planned ${n}`)).sort();

/** Of the event at this place. */
export function uuidAt(place: number): string {
  return UUIDS[place] ?? "";
}

export function eventAt(place: number): string {
  return `{"uuid":"${uuidAt(place)}","n":${place}}`;
}

export function rowAt(place: number): string {
  return JSON.stringify(aRow(uuidAt(place), { event_date: "2026-01-01", event: eventAt(place) }));
}

export function makePlan(store: MemoryStore, events: number): Promise<Plan> {
  return createPlan(store, layout(ACCOUNT).plan(RUN), {
    run_id: RUN,
    account: ACCOUNT,
    trigger: "schedule",
    fingerprint: "f",
    created_at: "2026-11-21T06:00:01.000Z",
    rejected: 0,
    repeated: 0,
    readings: 1,
    unstable: 0,
    events: UUIDS.slice(0, events).map((uuid) => ({ uuid, requestAs: uuid, listing: "{}" })),
  });
}

/** The files of the run. */
export function filesOf(store: MemoryStore): Promise<readonly StoredKey[]> {
  return Array.fromAsync(store.list(layout(ACCOUNT).run(RUN)));
}

export function recordKey(place: number): string {
  return layout(ACCOUNT).record(RUN, place);
}

export function rowsKey(place: number, token = "other"): string {
  return layout(ACCOUNT).rows(RUN, place, token);
}

/** Writes the rows of a range, and says what is to be recorded. */
export function writeRange(
  store: MemoryStore,
  place: number,
  end: number,
  { gone = [], lines }: { readonly gone?: readonly number[]; readonly lines?: readonly string[] } = {},
): Omit<RangeRecord, "plan" | "place"> {
  const places = Array.from({ length: end - place }, (_, index) => place + index);
  const found = places.filter((each) => !gone.includes(each));
  const text = (lines ?? found.map(rowAt)).map((line) => `${line}\n`).join("");
  const left_out = gone.map((each) => ({ uuid: uuidAt(each), reason: "gone" as const }));
  if (found.length === 0) return { end, rows: null, left_out };
  const bytes = gzipSync(text);
  const key = rowsKey(place);
  store.put(key, bytes);
  const rows = {
    file: key.slice(key.lastIndexOf("/") + 1),
    rows: found.length,
    bytes: Buffer.byteLength(text),
    sha256: hash("sha256", text, "hex"),
    stored: { bytes: bytes.length, sha256: hash("sha256", bytes, "hex") },
  };
  return { end, rows, left_out };
}

/** As another process records it. */
export function putRange(
  store: MemoryStore,
  plan: Plan,
  place: number,
  end: number,
  options: Parameters<typeof writeRange>[3] = {},
): void {
  const range = writeRange(store, place, end, options);
  const record: RangeRecord = { plan: plan.header.sha256, place, ...range };
  store.put(recordKey(place), `${JSON.stringify(record)}\n`);
}
