// Defects of what accounts share, of removing one, and of retiring a snapshot.

import type { PlantedDefect } from "./planted-defect.ts";

export const ACCOUNT_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "views.sql has one account only",
    file: "catalog/duckdb/duckdb-catalog.ts",
    from: "Array.fromAsync(names, ",
    to: "Array.fromAsync(own === undefined ? names : [own], ",
    seed: 3,
  },
  {
    name: "a removal deletes files of an account with a longer name",
    file: "storage/known-accounts.ts",
    from: "for await (const { key } of store.list(folder)) keys.push(key);",
    to: "for await (const { key } of store.list(folder.slice(0, -1))) keys.push(key);",
    seed: 25,
  },
  {
    name: "a removal deletes files before the tables follow",
    file: "commands/decisions.ts",
    from: "createRemoval(store, named));\n    await catalog.refresh(store.account);\n",
    to: "createRemoval(store, named));\n",
    seed: 10,
  },
  {
    name: "a run that is named before a removal goes on after it",
    file: "run/publish/publish.ts",
    from: "else if (removal && removal.run_id >= runId)",
    to: 'else if (removal?.run_id === "")',
    seed: 25,
  },
  {
    name: "what readers see is retired",
    file: "commands/decisions.ts",
    from: 'if (log.at(-1)?.snapshot_id === snapshotId) throw isHead(snapshotId, "Readers see the snapshot");',
    to: "",
    seed: 19,
  },
];
