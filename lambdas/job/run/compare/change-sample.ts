// Changes in short: how many of each kind, and the first uuids of each.

import type { Change } from "../../snapshot/rows/diff-rows.ts";

type Kind = Change["change"];

export class ChangeSample {
  readonly #most: number;
  readonly counts: Record<Kind, number> = { added: 0, changed: 0, removed: 0 };
  readonly uuids: Readonly<Record<Kind, string[]>> = { added: [], changed: [], removed: [] };

  /** @param most how many uuids of each kind are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add({ uuid, change }: Pick<Change, "uuid" | "change">): void {
    this.counts[change] += 1;
    if (this.uuids[change].length < this.#most) this.uuids[change].push(uuid);
  }
}
