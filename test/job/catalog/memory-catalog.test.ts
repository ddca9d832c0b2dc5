// The catalog in memory keeps the contract.

import { MemoryStore } from "../storage/memory-store.ts";
import { catalogContract } from "./catalog-contract.ts";
import { MemoryCatalog } from "./memory-catalog.ts";

const uuidOf = (line: string): string => JSON.parse(line).uuid;

catalogContract("MemoryCatalog", async () => {
  const store = new MemoryStore();
  const catalog = new MemoryCatalog(store);
  const tables = {
    events: async (account: string) => (await catalog.events(account)).map(({ uuid }) => uuid),
    snapshots: async (account: string) => {
      const found = new Map<string, readonly string[]>();
      for (const id of catalog.snapshots(account)) {
        found.set(
          id,
          (await catalog.snapshot(account, id)).map(({ uuid }) => uuid),
        );
      }
      return found;
    },
    changes: async (account: string) => {
      const found = new Map<string, readonly string[]>();
      for (const { publication } of catalog.log(account)) {
        const uuids = (await catalog.changesOf(account, publication)).map(uuidOf);
        if (uuids.length > 0) found.set(publication, uuids);
      }
      return found;
    },
  };
  return { store, catalog, tables };
});
