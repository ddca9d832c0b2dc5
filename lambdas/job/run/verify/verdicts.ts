// What the events of a sample are now, counted.

import type { Detail } from "../../service/event-service.ts";
import { NO_COUNTS, type SnapshotCounts } from "../run-state.ts";

/** `gone` for 404 and 410, `forbidden` for 403, `oversize` for a detail over the cap, `too_deep` for too many levels. */
export type Verdict = "same" | "changed" | Extract<Detail, { kind: "left-out" }>["reason"];

/** How many uuids are named of each kind. */
const MAX_NAMED = 10;

export class Verdicts {
  readonly #counts: Record<Verdict, number> = {
    same: 0,
    changed: 0,
    gone: 0,
    forbidden: 0,
    oversize: 0,
    too_deep: 0,
  };
  readonly #first: Record<Exclude<Verdict, "same">, string[]> = {
    changed: [],
    gone: [],
    forbidden: [],
    oversize: [],
    too_deep: [],
  };

  get counts(): Readonly<Record<Verdict, number>> {
    return this.#counts;
  }

  /** The first uuids of each kind that is not the same. */
  get first(): Readonly<Record<Exclude<Verdict, "same">, readonly string[]>> {
    return this.#first;
  }

  get total(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }

  add(uuid: string, verdict: Verdict): void {
    this.#counts[verdict] += 1;
    if (verdict !== "same" && this.#first[verdict].length < MAX_NAMED) this.#first[verdict].push(uuid);
  }

  /** As columns of `sync_runs`: `events` are those that the service still gives. */
  asCounts(): SnapshotCounts {
    const { same, changed, gone, forbidden, oversize, too_deep } = this.#counts;
    return { ...NO_COUNTS, events: same + changed, changed, gone, forbidden, rejected: oversize + too_deep };
  }
}
