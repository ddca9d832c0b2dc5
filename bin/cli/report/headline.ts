// The page in one line: what needs a person, else how much there is and how old it is.

import { madeAtMs, publishableOf } from "../output/describe-status.ts";
import { age } from "../output/minute.ts";
import { plural } from "../output/progress-text.ts";
import type { ReportedAccount } from "./data/account-report.ts";

const MOST_NAMED = 5;
const NOTHING = "Nothing is published yet";

export function headline(accounts: readonly ReportedAccount[], nowMs: number): string {
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0) return trouble(only) ?? freshness(only, nowMs);
  const named = accounts.filter((one) => trouble(one) !== undefined).map(({ account }) => account);
  const all = plural(accounts.length, "account");
  if (named.length === 0) return `${all}, none needs attention`;
  const needs = named.length === 1 ? "needs" : "need";
  return named.length > MOST_NAMED
    ? `${all}, ${named.length} need attention`
    : `${all}: ${new Intl.ListFormat("en").format(named)} ${needs} attention`;
}

function freshness(one: ReportedAccount, nowMs: number): string {
  const head = "damage" in one ? null : one.status.head;
  return head === null ? NOTHING : `${plural(head.events, "event")} from ${age(madeAtMs(head), nowMs)}`;
}

/** What a person has to look at; undefined where there is nothing. */
function trouble(one: ReportedAccount): string | undefined {
  if ("damage" in one) return `The account cannot be read (${one.damage.code})`;
  const held = publishableOf(one.status).length;
  if (held > 0) return `${plural(held, "snapshot")} ${held === 1 ? "waits" : "wait"} for your decision`;
  const last = one.runs.at(-1);
  if (last?.outcome === "FAILED")
    return `The last run failed${last.error_code === null ? "" : ` (${last.error_code})`}`;
  return one.status.head === null ? NOTHING : undefined;
}
