// The whole page, of what the warehouse says of its accounts.

import type { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { HeldCommands } from "../../../lambdas/job/run/compare/held-snapshots.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { madeAtMs, publishableOf, statusTable } from "../output/describe-status.ts";
import { Html, html, policyOf } from "../output/html.ts";
import { age, minute, plural } from "../output/words.ts";
import { type ReportedAccount, reportAccount } from "./account-section.ts";
import type { RequestLimit } from "./figures/run-figures.ts";
import { table } from "./page/figure.ts";

interface ReportOptions {
  readonly store: Store;
  /** As a person named it. */
  readonly warehouse: string;
  readonly nowMs: number;
  /** In the order of the page. */
  readonly accounts: readonly string[];
  readonly limitOf: (account: string) => RequestLimit;
  /** That decide on a held snapshot. */
  readonly commandsFor: (account: string, snapshotId: string) => HeldCommands;
}

export interface Report {
  /** The same for the same files, instant and command. */
  readonly page: string;
  /** The accounts of which the page only says why they cannot be read. */
  readonly damaged: readonly { readonly account: string; readonly damage: SyncError }[];
}

/** Reads only. Throws `STORE_FAILED`. */
export async function makeReport(options: ReportOptions): Promise<Report> {
  const { store, warehouse, nowMs, limitOf, commandsFor } = options;
  const accounts: ReportedAccount[] = [];
  for (const account of options.accounts) {
    accounts.push(await reportAccount(accountStore(store, account), nowMs, limitOf(account), commandsFor));
  }
  return { page: reportPage(accounts, warehouse, nowMs), damaged: accounts.filter((one) => "damage" in one) };
}

function reportPage(accounts: readonly ReportedAccount[], warehouse: string, nowMs: number): string {
  const title = headline(accounts, nowMs);
  const isOnly = accounts.length === 1;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policyOf(STYLE_SHEET))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${isOnly ? `${accounts[0]?.account}: ${title}` : title}</title>
<style>${new Html(STYLE_SHEET)}</style>
</head>
<body>
${PATTERNS}<main>
<p class="quiet program">brand-events-sync</p>
<h1>${withWholeDates(title)}</h1>
<p class="quiet made">Warehouse ${warehouse}, ${minute(nowMs)}</p>
${isOnly ? "" : overview(accounts, nowMs)}${accounts.map(({ section }) => section)}<footer class="quiet">Made by brand-events-sync ${VERSION} from the logs of the warehouse. All times are UTC. The page holds counts, names of fields and messages, and no event.</footer>
</main>
</body>
</html>
`.text;
}

/** Its dates do not break. */
function withWholeDates(title: string): readonly Html[] {
  return title
    .split(/(\d{4}-\d\d-\d\d)/)
    .map((part, at) => (at % 2 === 0 ? html`${part}` : html`<span class="date">${part}</span>`));
}

function overview(accounts: readonly ReportedAccount[], nowMs: number): Html {
  const found = accounts.map((one) => ("damage" in one ? one : one.status));
  const { columns, rows } = statusTable(found, nowMs);
  const cell = (row: (typeof rows)[number], title: string): string => row[columns.indexOf(title)] ?? "";
  const linked = (row: (typeof rows)[number]): Html => {
    const account = cell(row, "account");
    return html`<a href="#account-${account}">${account}</a>`;
  };
  // The state comes first: on a phone each account is a card, read from its top, whose lines begin with a title.
  const titled = ["last outcome", "readers see", "as of", "held", "running"].map((title) => {
    const line = (row: (typeof rows)[number]): Html | null =>
      cell(row, title) === "" ? null : html`<span class="title">${title}: </span>${cell(row, title)}`;
    return [title, line] as const;
  });
  const { content } = table("All accounts", rows, [["account", linked], ...titled]);
  return html`<div class="overview">${content}</div>\n`;
}

/** The page in one line: what needs a person, else how much there is and how old it is. */
const MOST_NAMED = 5;
const NOTHING = "Nothing is published yet";

function headline(accounts: readonly ReportedAccount[], nowMs: number): string {
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
  if (head === null) return NOTHING;
  return `${plural(head.events, "event")} of ${minute(madeAtMs(head))}, ${age(madeAtMs(head), nowMs)}`;
}

/** What a person has to look at; undefined where there is nothing. */
function trouble(one: ReportedAccount): string | undefined {
  if ("damage" in one) return `The account cannot be read (${one.damage.code})`;
  const held = publishableOf(one.status).length;
  if (held > 0) return `${plural(held, "snapshot")} ${held === 1 ? "waits" : "wait"} for your decision`;
  const last = one.lastRun;
  if (last?.outcome === "FAILED")
    return `The last run failed${last.error_code === null ? "" : ` (${last.error_code})`}`;
  return one.status.head === null ? NOTHING : undefined;
}

/** Fills that are told apart without colour, once for the whole page. */
const PATTERNS = html`<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatched" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0,0V5" stroke="var(--mark)" stroke-width="2.5"/></pattern>
<pattern id="dotted" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="2.5" cy="2.5" r="1.25" fill="var(--held)"/></pattern>
</defs></svg>
`;

/** Of the page's one style sheet. */
const LIGHT =
  "--paper: #fff; --panel: #f5f6f8; --ink: #1c2128; --quiet: #58626e; --grid: #e1e4e9; --mark: #2c5f96; --held: #8a5300; --failed: #b3261e;";
const DARK =
  "--paper: #12161c; --panel: #1b2129; --ink: #e7eaee; --quiet: #a2acb8; --grid: #2c343e; --mark: #86b3e6; --held: #e3b04b; --failed: #ff8d85;";

const STYLE_SHEET = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
main { max-width: 47rem; margin: 0 auto; padding: 2.5rem 1rem 4rem; }
h1, h2, h3, p, dl, dd, figure, pre { margin: 0; }
h1 { font-size: 1.75rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
h2 { font-size: 1.375rem; line-height: 1.3; font-weight: 650; }
.date { white-space: nowrap; }
h3 { font-size: 1.0625rem; line-height: 1.4; font-weight: 600; text-wrap: balance; }
a { color: var(--mark); }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: .875rem; }
.patterns { position: absolute; width: 0; height: 0; }
.program { margin-bottom: .5rem; }
.made { margin-top: .5rem; }
.overview { margin-top: 2rem; }
.account { margin-top: 2.5rem; padding-top: 2rem; border-top: 1px solid var(--grid); }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: 1.25rem 1.5rem; margin-top: 1.25rem; }
.facts dt { color: var(--quiet); font-size: .875rem; }
.facts dd { font-size: 1.25rem; line-height: 1.35; font-weight: 600; }
.facts dd + dd { margin-top: .125rem; font-size: .875rem; font-weight: 400; color: var(--quiet); }
.note { margin-top: 1.5rem; padding: 1rem 1.125rem; border-left: 4px solid var(--tone); background: var(--panel); border-radius: 0 .375rem .375rem 0; }
.note + .note { margin-top: .75rem; }
.note h3 { color: var(--tone); }
.note p { margin-top: .375rem; }
.note .quiet { margin-top: .75rem; }
.held { --tone: var(--held); }
.failed { --tone: var(--failed); }
pre { margin-top: .25rem; padding: .5rem .75rem; background: var(--paper); border: 1px solid var(--grid); border-radius: .375rem; white-space: pre-wrap; font: .8125rem/1.5 ui-monospace, monospace; }
figure { margin-top: 2.75rem; break-inside: avoid; }
figcaption p { margin-top: .25rem; }
.chart { margin-top: .5rem; padding: .75rem 0; font-size: .75rem; font-variant-numeric: tabular-nums; }
.chart svg { overflow: visible; }
.chart > svg { display: block; width: calc(100% - 3.5rem); margin: .5rem .625rem .625rem 2.875rem; }
.chart > p { margin-left: 2.875rem; color: var(--quiet); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 .75rem 2.875rem; }
.legend svg { vertical-align: -.125em; }
details { margin-top: .75rem; }
summary { width: fit-content; cursor: pointer; color: var(--quiet); font-size: .875rem; }
.scroll { margin-top: .5rem; overflow-x: auto; }
table { border-collapse: collapse; font-size: .8125rem; line-height: 1.4; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: .375rem 1.25rem .375rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); font-weight: 400; white-space: nowrap; }
thead th { color: var(--quiet); }
.number { text-align: right; }
.title { display: none; color: var(--quiet); }
.long { min-width: 16rem; white-space: normal; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--grid); }
@media (max-width: 40rem) {
  main { padding-top: 1.5rem; }
  h1 { font-size: 1.5rem; }
  .extra { display: none; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .overview thead { display: none; }
  .overview tr { display: block; padding: .75rem 0; border-bottom: 1px solid var(--grid); }
  .overview th, .overview td { display: block; padding: 0; border: 0; white-space: normal; overflow-wrap: anywhere; }
  .overview th { font-size: 1rem; font-weight: 600; }
  .overview td:empty { display: none; }
  .title { display: inline; }
}
@media print {
  :root { color-scheme: light; ${LIGHT} }
  @page { margin: 15mm; }
  body { font-size: .875rem; }
  main { max-width: none; padding: 0; }
  .extra { display: inline; }
  .note, tr { break-inside: avoid; }
  h2, h3, figcaption { break-after: avoid; }
  details:not([open]) { display: none; }
  .scroll { overflow: visible; }
  figure:has(details[open]) { break-inside: auto; }
  table { font-size: .6875rem; }
  th, td { padding-right: .75rem; }
  .long { min-width: 0; }
  .overview th, .overview td { white-space: normal; }
}
`;
