// A process that crashes at one of its effects: that effect happens or not, and nothing after it does.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

interface CrashingPorts {
  readonly store: Store;
  readonly catalog: Catalog;
}

export type Moment = "before" | "after";

/** What a call of a dead process comes back with. */
export class Crashed extends Error {
  override readonly name = "Crashed";
}

/** Counts the effects of a run on store and catalog, and stops all of them at the one that is named. */
export class CrashPoint {
  readonly effects: string[] = [];
  readonly #at: number | string;
  readonly #moment: Moment;
  #dead = false;

  /** The number of an effect, from 1 (`Infinity` never crashes), or a part of its name. */
  constructor(at: number | string, moment: Moment = "before") {
    this.#at = at;
    this.#moment = moment;
  }

  get crashed(): boolean {
    return this.#dead;
  }

  /** The two ports that have effects, behind this point. */
  wrap({ store, catalog }: CrashingPorts): CrashingPorts {
    const guarded: Store = {
      read: (key) => this.alive(() => store.read(key)),
      open: (key) => this.alive(() => store.open(key)),
      list: (prefix, after) => store.list(prefix, after),
      create: (key, body) => this.effect(`create ${key}`, () => store.create(key, body)),
      replace: (key, bytes, version) =>
        this.effect(`replace ${key}`, () => store.replace(key, bytes, version)),
      copy: (from, to) => this.effect(`copy ${to}`, () => store.copy(from, to)),
      // A list may be left anywhere.
      delete: async (keys) => {
        for (const key of keys) await this.effect(`delete ${key}`, () => store.delete([key]));
      },
    };
    const followed: Catalog = {
      refresh: (account, what) => this.effect(`follow ${account}`, () => catalog.refresh(account, what)),
    };
    return { store: guarded, catalog: followed };
  }

  /** Something without effects, which a crashed process does not do either. */
  async alive<T>(work: () => Promise<T>): Promise<T> {
    this.#throwIfDead();
    return work();
  }

  /** An effect that is counted, and at which the process may crash. */
  async effect<T>(name: string, work: () => Promise<T>): Promise<T> {
    this.#throwIfDead();
    this.effects.push(name);
    const isLast = typeof this.#at === "string" ? name.includes(this.#at) : this.effects.length === this.#at;
    if (isLast && this.#moment === "before") this.#die();
    const result = await work();
    if (isLast) this.#die();
    return result;
  }

  #die(): never {
    this.#dead = true;
    throw new Crashed("the process died");
  }

  #throwIfDead(): void {
    if (this.#dead) throw new Crashed("the process is dead");
  }
}
