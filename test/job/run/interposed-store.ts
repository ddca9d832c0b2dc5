// A store that does something of a test's own before each creation: waits, lets another run go first, fails.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";

export function interposed(
  store: Store,
  beforeCreate: (key: string) => Promise<void> = async () => undefined,
): Store {
  return {
    ...accountStore(store, ""),
    create: async (key, body) => {
      await beforeCreate(key);
      return store.create(key, body);
    },
    copy: async (from, to) => {
      await beforeCreate(to);
      return store.copy(from, to);
    },
  };
}

interface Watched {
  readonly store: Store;
  /** The keys that were read whole, each time. */
  readonly reads: readonly string[];
  /** The keys that lists have given. */
  readonly listed: readonly string[];
}

export function watched(store: Store): Watched {
  const reads: string[] = [];
  const listed: string[] = [];
  const read: Store["read"] = (key) => {
    reads.push(key);
    return store.read(key);
  };
  async function* list(prefix: string, after?: string): ReturnType<Store["list"]> {
    for await (const found of store.list(prefix, after)) {
      listed.push(found.key);
      yield found;
    }
  }
  return { store: { ...interposed(store), read, list }, reads, listed };
}

/** Before the first creation of a file with this in its key, something else happens. */
export function interposedOnce(store: Store, at: string, act: () => Promise<unknown>): Store {
  let isDone = false;
  return interposed(store, async (key) => {
    if (isDone || !key.includes(at)) return;
    isDone = true;
    await act();
  });
}

/** No file with this in its key can be created. */
export function refusing(
  store: Store,
  at: string,
  error = new SyncError("STORE_FAILED", "for a moment"),
): Store {
  return interposed(store, async (key) => {
    if (key.includes(at)) throw error;
  });
}
