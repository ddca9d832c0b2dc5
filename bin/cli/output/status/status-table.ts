// All accounts of a warehouse, a line each.

import type { AccountStatus } from "../../../../lambdas/job/run/status-of-all.ts";
import { plural } from "../progress-text.ts";
import type { TableRows } from "../table.ts";
import { publishableOf, reasonOf, running } from "./describe-status.ts";
import { age, minute } from "./minute.ts";
import { madeAtMs } from "./too-old.ts";

const COLUMNS = ["account", "readers see", "as of", "last outcome", "held", "running"] as const;

export function statusTable(found: readonly AccountStatus[], nowMs: number): TableRows {
  return { columns: COLUMNS, rows: found.map((one) => rowOf(one, nowMs)) };
}

function rowOf(one: AccountStatus, nowMs: number): readonly string[] {
  if ("damage" in one) return [one.account, `unknown: ${one.damage.code}`, "", "", "", ""];
  const { account, head, lease, runs } = one;
  // A verification says nothing of the runs.
  const last = runs.find(({ trigger }) => trigger !== "verify");
  const held = publishableOf(one).length;
  const isUnknown = head === null && lease === null && last === undefined;
  return [
    account,
    head === null ? "nothing" : `${plural(head.events, "event")}${head.pinned ? ", pinned" : ""}`,
    head === null ? "" : `${minute(madeAtMs(head))}, ${age(madeAtMs(head), nowMs)}`,
    last === undefined ? (isUnknown ? "never ran" : "") : `${last.outcome} ${reasonOf(last)}`.trim(),
    held === 0 ? "" : String(held),
    lease === null ? "" : running(lease),
  ];
}
