// Defects of PUBLISH, of the publication log and of the catalog.

import type { PlantedDefect } from "./planted-defect.ts";

export const PUBLISHING_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "a run that was published is adopted and published again",
    file: "run/collect/unfinished-run.ts",
    from: "if ((await recordPublishedRun(ports, runId)) || runId === after) continue;",
    to: "if (runId === after) continue;",
    isPast: true,
  },
  {
    name: "a retry of a run that was published ends as superseded",
    file: "run/run.ts",
    from: "  if (published) {",
    to: "  if (published && published.counts.listed === -1) {",
    isPast: true,
  },
  {
    name: "the pin of the head at the start counts",
    file: "run/publish/publish.ts",
    from: "(head?.pinned ? pinnedBy(head) : undefined)",
    to: "(task.end.head?.pinned ? pinnedBy(task.end.head) : undefined)",
    isPast: true,
  },
  {
    name: "a run that is finished meanwhile is made again under the lease",
    file: "run/run.ts",
    from: "if (meanwhile) return meanwhile;",
    to: "if (meanwhile?.row.attempt === -1) return meanwhile;",
    isPast: true,
  },
  {
    name: "a commit counts although another writer was first",
    file: "storage/publication-log.ts",
    from: 'if (standing?.write_id !== publication.write_id) return "lost";',
    to: 'if (standing?.write_id === "") return "lost";',
  },
  {
    name: "S3 creates objects without a condition",
    file: "storage/s3/s3-store.ts",
    from: 'if (body instanceof Uint8Array) return this.#putIf(key, body, { IfNoneMatch: "*" });',
    to: 'if (body instanceof Uint8Array) return this.#putIf(key, body, { IfNoneMatch: "" as "*" });',
  },
  {
    name: "the catalog is not refreshed after the commit",
    file: "run/publish/publish.ts",
    from: "await ports.catalog.refresh(store.account);",
    to: "",
  },
  {
    name: "a start does not bring the catalog up to the head",
    file: "run/run-session.ts",
    from: "    await catalog.refresh(store.account);\n",
    to: "",
  },
  {
    name: "Glue's events move before the other tables",
    file: "catalog/glue/glue-catalog.ts",
    from: "    await this.#refreshSnapshots(head, behind, store);\n",
    to: "",
  },
  {
    name: "an accept without force replaces a later head",
    file: "commands/accept-or-rollback.ts",
    from: 'return request.action === "accept" && isOlder && !request.force ? { newer: head } : undefined;',
    to: "return isOlder && snapshotId === head.snapshot_id ? { newer: head } : undefined;",
  },
  {
    name: "after a lost race all events count as added",
    file: "run/publish/commit.ts",
    from: "const base = isRestart ? null : (head?.snapshot_id ?? null);",
    to: "const base = isRestart || lost !== undefined ? null : (head?.snapshot_id ?? null);",
  },
  {
    name: "an error that a retry can fix finishes the run",
    file: "run/record/attempt.ts",
    from: "if (error.isRetryable || ",
    to: 'if (error.code === "INTERRUPTED" || ',
  },
  {
    name: "retention deletes what was the head a moment ago",
    file: "run/publish/retention.ts",
    from: "const inUse = headsSince(log, nowMs - DAY_MS);",
    to: "const inUse = headsSince(log, nowMs);",
  },
  {
    name: "retention deletes a snapshot as soon as it is retired",
    file: "run/publish/retention.ts",
    from: "retiredAtMs <= nowMs - DAY_MS &&",
    to: "retiredAtMs <= nowMs &&",
  },
];
