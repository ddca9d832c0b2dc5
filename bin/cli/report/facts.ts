// The few facts that everybody asks for first: how many events, how old, and how the last run ended.

import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";
import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { Status } from "../../../lambdas/job/run/status.ts";
import { madeAtMs, reasonOf, running } from "../output/describe-status.ts";
import { age, minute } from "../output/minute.ts";
import type { AccountReport } from "./data/account-report.ts";
import { type Html, html } from "./page/html.ts";

type Fact = readonly [name: string, value: string, more: string];

export function facts({ status, runs }: AccountReport, nowMs: number): Html {
  const items = [...headFacts(status, nowMs), lastRun(runs.at(-1)), lease(status)].map(
    ([name, value, more]) => html`<div><dt>${name}</dt><dd>${value}</dd><dd>${more}</dd></div>\n`,
  );
  return html`<dl class="facts">\n${items}</dl>\n`;
}

function headFacts({ head }: Status, nowMs: number): readonly Fact[] {
  if (head === null) return [["Readers see", "nothing", "no snapshot is published yet"]];
  const madeAt = madeAtMs(head);
  const by = head.action === "run" ? "" : ` by ${head.action}`;
  const pinned = head.pinned ? ", pinned: later runs are held" : "";
  return [
    [
      "Readers see",
      `${countText(head.events)} ${head.events === 1 ? "event" : "events"}`,
      `publication ${countText(Number(head.publication))}${by}${pinned}`,
    ],
    ["Data from", age(madeAt, nowMs), minute(madeAt)],
  ];
}

function lastRun(last: RunLogEntry | undefined): Fact {
  if (last === undefined) return ["Last run", "none", "no run has ended yet"];
  const reason = reasonOf(last);
  const took = durationText(last.seconds * 1000);
  return [
    "Last run",
    last.outcome,
    `${reason === "" ? "" : `${reason}, `}${minute(Date.parse(last.started_at))}, ${took}`,
  ];
}

function lease({ lease: found }: Status): Fact {
  return found === null
    ? ["Running now", "nothing", "no run is under way"]
    : ["Running now", "a run", running(found)];
}
