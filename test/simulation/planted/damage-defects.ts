// Defects of what is done about damaged, missing and foreign files, and of `verify` and `diff`.

import type { PlantedDefect } from "./planted-defect.ts";

export const DAMAGE_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "rows that are compared are not verified",
    file: "snapshot/files/parts.ts",
    from: "if (rows === expected.rows && text.result().sha256 === expected.sha256) return;",
    to: "return;",
  },
  {
    name: "a damaged snapshot is the base over a damaged head",
    file: "run/publish/base.ts",
    from: "if (kept.has(snapshotId) && (await damageOf(snapshotId)) === undefined) return snapshotId;",
    to: "if (kept.has(snapshotId)) return snapshotId;",
  },
  {
    name: "a damaged head is published over unasked",
    file: "run/publish/base.ts",
    from: "const damage = isOverDamaged ? await damageOf(head.snapshot_id) : undefined;",
    to: "const damage = await damageOf(head.snapshot_id);",
  },
  {
    name: "a removal deletes files that are not the program's",
    file: "run/remove/remove-account.ts",
    from: "return keys.filter(isOfLayout);",
    to: "return keys;",
  },
  {
    name: "verify takes what has changed for the same",
    file: "run/verify/verify.ts",
    from: 'changedPointers(event, detail.event).length === 0 ? "same" : "changed"',
    to: 'changedPointers(event, event).length === 0 ? "same" : "changed"',
  },
  {
    name: "diff leaves out what was removed",
    file: "run/compare/diff.ts",
    from: "for await (const change of compareSnapshots(store, before, after, proceed)) onChange(change);",
    to: 'for await (const change of compareSnapshots(store, before, after, proceed)) if (change.change !== "removed") onChange(change);',
  },
];
