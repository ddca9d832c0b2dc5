// The few facts that everybody asks for first: how many events, how old, and how the last attempt ended.

import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import { durationText } from "../../../lambdas/job/run/record/duration-text.ts";
import type { Status } from "../../../lambdas/job/run/status.ts";
import { reasonOf, running } from "../output/status/describe-status.ts";
import { age, minute } from "../output/status/minute.ts";
import { madeAtMs } from "../output/status/too-old.ts";
import { type Html, html } from "./page/html.ts";

type Fact = readonly [name: string, value: string, more: string];

export function facts(status: Status, nowMs: number): Html {
  const items = [...headFacts(status, nowMs), lastAttempt(status), lease(status)].map(
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

function lastAttempt({ runs }: Status): Fact {
  const [last] = runs;
  if (last === undefined) return ["Last attempt", "none", "nothing has run yet"];
  const reason = reasonOf(last);
  const took = durationText(last.seconds * 1000);
  return [
    "Last attempt",
    last.outcome,
    `${reason === "" ? "" : `${reason}, `}${minute(Date.parse(last.started_at))}, ${took}`,
  ];
}

function lease({ lease: found }: Status): Fact {
  return found === null
    ? ["Running now", "nothing", "no run is under way"]
    : ["Running now", "a run", running(found)];
}
