// A store that does something of a test's own before each creation: waits, lets another run go first, fails.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

export function interposed(
  store: Store,
  beforeCreate: (key: string) => Promise<void> = async () => undefined,
): Store {
  return {
    read: (key) => store.read(key),
    open: (key) => store.open(key),
    list: (prefix, after) => store.list(prefix, after),
    create: async (key, body) => {
      await beforeCreate(key);
      return store.create(key, body);
    },
    copy: async (from, to) => {
      await beforeCreate(to);
      return store.copy(from, to);
    },
    replace: (key, bytes, version) => store.replace(key, bytes, version),
    delete: (keys) => store.delete(keys),
  };
}

/** How many keys its lists have given. */
export function countingKeys(store: Store): { readonly store: Store; readonly listed: () => number } {
  let listed = 0;
  return {
    listed: () => listed,
    store: {
      ...interposed(store),
      async *list(prefix, after) {
        for await (const found of store.list(prefix, after)) {
          listed += 1;
          yield found;
        }
      },
    },
  };
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
