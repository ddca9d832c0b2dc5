// A store that does something of a test's own before each creation: waits, lets another run go first, fails.

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
    delete: (key) => store.delete(key),
  };
}
