// Defects of what is done about damaged, missing and foreign files, and of `verify` and `diff`.

import type { PlantedDefect } from "./planted-defect.ts";

export const DAMAGE_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "rows that are compared are not verified",
    file: "snapshot/files/parts.ts",
    from: "if (rows === expected.rows && text.result().sha256 === expected.sha256) return;",
    to: "return;",
    seed: 33,
  },
  {
    name: "a damaged head is published over unasked",
    file: "run/publish/publish.ts",
    from: "const isRestart = chain.plan.header.restart === true;",
    to: "const isRestart = task.end.head !== undefined;",
    seed: 2,
  },
  {
    name: "a restart is compared with the head",
    file: "run/publish/commit.ts",
    from: "const base = isRestart ? null : (head?.snapshot_id ?? null);",
    to: "const base = head?.snapshot_id ?? null;",
    seed: 2,
  },
  {
    name: "the table in Athena keeps changes that lack a part",
    file: "catalog/glue/glue-catalog.ts",
    from: "const over = [...there].filter(([, location]) => damaged.has(location));",
    to: "const over: [string][] = [];",
    seed: 750,
  },
  {
    name: "check takes all missing changes for those before a restart",
    file: "commands/check.ts",
    from: 'return isBeforeRestart(log, changes) ? "past" : "restart";',
    to: 'return "past";',
    seed: 287,
  },
  {
    name: "a removal deletes files that are not the program's",
    file: "storage/known-accounts.ts",
    from: "return keys.filter(isOfLayout);",
    to: "return keys;",
    seed: 132,
  },
  {
    name: "verify takes what has changed for the same",
    file: "commands/verify.ts",
    from: 'changedPointers(event, detail.event).length === 0 ? "same" : "changed"',
    to: 'changedPointers(event, event).length === 0 ? "same" : "changed"',
    seed: 7,
  },
  {
    name: "diff leaves out what was removed",
    file: "commands/diff.ts",
    from: "onChange({ ...change, reason });",
    to: 'if (change.change !== "removed") onChange({ ...change, reason });',
    seed: 305,
  },
];
