// The whole page, of what the warehouse says of its accounts.

import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import type { DamagedAccount } from "../../../lambdas/job/storage/known-accounts.ts";
import { accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { statusTable } from "../output/describe-status.ts";
import { Html, html, policyOf } from "../output/html.ts";
import { age, minute, plural } from "../output/words.ts";
import { type AccountOptions, NOTHING, type ReportedAccount, reportAccount } from "./account-section.ts";
import { table } from "./figure.ts";

interface ReportOptions extends AccountOptions {
  readonly store: Store;
  /** The warehouse as a person named it. */
  readonly warehouse: string;
  readonly accounts: readonly string[];
}

export interface Report {
  /** The same for the same files, instant and command. */
  readonly page: string;
  /** The accounts of which the page only says why they cannot be read. */
  readonly damaged: readonly DamagedAccount[];
}

/** Reads only. */
export async function makeReport(options: ReportOptions): Promise<Report> {
  const { store, warehouse, nowMs } = options;
  const accounts: ReportedAccount[] = [];
  for (const account of options.accounts) {
    accounts.push(await reportAccount(accountStore(store, account), options));
  }
  const damaged = accounts.map(({ found }) => found).filter((found) => "damage" in found);
  return { page: reportPage(accounts, warehouse, nowMs), damaged };
}

function reportPage(found: readonly ReportedAccount[], warehouse: string, nowMs: number): string {
  const accounts = found.toSorted(compareUrgency);
  const title = headline(accounts);
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
<p class="quiet">brand-events-sync, ${warehouse}, <span class="date">as of ${minute(nowMs)}</span></p>
<h1>${title}</h1>
${isOnly ? "" : overview(accounts, nowMs)}${accounts.map((one) => section(one, isOnly))}<footer class="quiet">Made by brand-events-sync ${VERSION} from the logs of the warehouse. All times are UTC. The page holds counts, names of fields and messages, and no event.</footer>
</main>
</body>
</html>
`.text;
}

/** Accounts that need attention come first; then those with the oldest data. */
function compareUrgency(a: ReportedAccount, b: ReportedAccount): number {
  const isWell = ({ trouble }: ReportedAccount): number => (trouble === undefined ? 1 : 0);
  return isWell(a) - isWell(b) || (a.dataMs ?? 0) - (b.dataMs ?? 0);
}

/** Of several accounts, those that need no attention are a line to open. A link to its content opens it, too. */
function section({ account, trouble, content }: ReportedAccount, isOnly: boolean): Html {
  if (isOnly) return html`<section>\n<h2>${account}</h2>\n${content}</section>\n`;
  const isOpen = trouble === undefined ? html`` : html` open`;
  return html`<details class="account"${isOpen}><summary><h2>${account}</h2></summary>
<div id="account-${account}">
${content}</div></details>
`;
}

function overview(accounts: readonly ReportedAccount[], nowMs: number): Html {
  const { columns, rows } = statusTable(
    accounts.map(({ found }) => found),
    nowMs,
  );
  const lines = accounts.map(({ account, trouble }, place) => {
    const cell = (title: string): string => rows[place]?.[columns.indexOf(title)] ?? "";
    return { account, trouble, cell };
  });
  // On a phone each account is a card, read from its top, whose lines begin with a title.
  const titled = ["as of", "readers see", "last outcome", "running"]
    .filter((title) => lines.some(({ cell }) => cell(title) !== ""))
    .map((title) => {
      const shown = ({ cell }: (typeof lines)[number]): Html | null =>
        cell(title) === "" ? null : html`<span class="title">${title}: </span>${cell(title)}`;
      return [title, shown] as const;
    });
  const { content } = table("All accounts", lines, [
    ["account", ({ account }) => html`<a href="#account-${account}">${account}</a>`],
    ["needs attention", ({ trouble }) => (trouble === undefined ? null : html`<strong>${trouble}</strong>`)],
    ...titled,
  ]);
  const oldestMs = Math.min(...accounts.map(({ dataMs }) => dataMs ?? Infinity));
  const oldest = accounts.find(({ dataMs }) => dataMs === oldestMs);
  const lead = oldest
    ? html`<p class="lead">The oldest data are from ${age(oldestMs, nowMs)} (${oldest.account})</p>\n`
    : "";
  return html`${lead}<div class="overview">${content}</div>\n`;
}

/** How many accounts that need a person are named in one line. */
const MOST_NAMED = 5;

function headline(accounts: readonly ReportedAccount[]): string {
  const [only, ...others] = accounts;
  if (only === undefined) return NOTHING;
  if (others.length === 0) return only.trouble ?? "No failure, nothing to decide";
  const named = accounts.filter(({ trouble }) => trouble !== undefined).map(({ account }) => account);
  const all = plural(accounts.length, "account");
  if (named.length === 0) return `${all}: no failure, nothing to decide`;
  const needs = named.length === 1 ? "needs" : "need";
  return named.length > MOST_NAMED
    ? `${all}, ${named.length} need attention`
    : `${all}: ${new Intl.ListFormat("en").format(named)} ${needs} attention`;
}

/** Fills that are told apart without colour, once for the whole page. */
const PATTERNS = html`<svg class="patterns" aria-hidden="true"><defs>
<pattern id="hatched" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0,0V5" stroke="var(--mark)" stroke-width="2.5"/></pattern>
<pattern id="dotted" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="2.5" cy="2.5" r="1.25" fill="var(--held)"/></pattern>
</defs></svg>
`;

/** The light colours of the page's one style sheet. */
const LIGHT =
  "--paper: #fff; --panel: #f5f6f8; --ink: #1c2128; --quiet: #58626e; --grid: #e1e4e9; --mark: #2c5f96; --held: #8a5300; --failed: #b3261e;";
const DARK =
  "--paper: #12161c; --panel: #1b2129; --ink: #e7eaee; --quiet: #a2acb8; --grid: #2c343e; --mark: #86b3e6; --held: #e3b04b; --failed: #ff8d85;";

const STYLE_SHEET = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 84rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3, p, dl, dd, figure, pre { margin: 0; }
h1, .lead, .facts > :first-child dd:nth-child(2) { font-size: 1.75rem; line-height: 1.25; font-weight: 650; letter-spacing: -.01em; text-wrap: balance; }
h1 { margin-top: .25rem; }
h2 { font-size: 1.375rem; line-height: 1.3; font-weight: 650; }
h3 { font-size: 1.0625rem; line-height: 1.4; font-weight: 600; text-wrap: balance; }
a { color: var(--mark); }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
.quiet { color: var(--quiet); font-size: .875rem; }
.patterns { position: absolute; width: 0; height: 0; }
.lead { margin-top: .25rem; font-weight: 400; }
.date { white-space: nowrap; }
.overview { margin-top: 1.5rem; }
.overview th, .overview td { white-space: normal; overflow-wrap: anywhere; }
.overview strong { color: var(--failed); }
section { margin-top: 1.5rem; }
.account { margin-top: 0; padding: .75rem 0; border-top: 1px solid var(--grid); }
.overview + .account { margin-top: 2rem; border: 0; }
.account[open] { padding-bottom: 2.5rem; }
.account > div { scroll-margin-top: 3rem; }
summary h2 { display: inline; color: var(--ink); font-size: 1.125rem; }
.facts { display: flex; flex-wrap: wrap; align-items: end; gap: 1rem 3rem; margin-top: .75rem; }
.facts dt { color: var(--quiet); font-size: .875rem; }
.facts dd { font-size: 1.25rem; line-height: 1.35; font-weight: 600; }
.facts dd + dd { margin-top: .125rem; font-size: .875rem; font-weight: 400; color: var(--quiet); }
.notes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem; margin-top: 1.5rem; align-items: start; }
.note { padding: 1rem 1.125rem; border-left: 4px solid var(--tone); background: var(--panel); border-radius: 0 .375rem .375rem 0; }
.note h3 { color: var(--tone); }
.note p { margin-top: .375rem; }
.note .quiet { margin-top: .75rem; }
.held { --tone: var(--held); }
.failed { --tone: var(--failed); }
pre { margin-top: .25rem; padding: .5rem .75rem; background: var(--paper); border: 1px solid var(--grid); border-radius: .375rem; white-space: pre-wrap; font: .8125rem/1.5 ui-monospace, monospace; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); gap: 2.5rem 3rem; margin-top: 2rem; align-items: start; }
figure { break-inside: avoid; }
figure:has(details[open]) { grid-column: 1 / -1; }
figcaption p { margin-top: .25rem; }
.lines { margin: 2rem 0 0; padding-left: 1.25rem; }
.chart { margin-top: .5rem; padding-top: .5rem; font-size: .75rem; font-variant-numeric: tabular-nums; }
.chart svg { overflow: visible; }
.chart > svg { display: block; width: calc(100% - 3.5rem); margin: .5rem .625rem .625rem 2.875rem; }
.chart > svg:last-child { margin-bottom: 2.5rem; }
.chart > p { margin-left: 2.875rem; color: var(--quiet); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: 0 0 .75rem 2.875rem; }
.legend svg { vertical-align: -.125em; }
details { margin-top: .5rem; }
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
  h1, .lead, .facts > :first-child dd:nth-child(2) { font-size: 1.5rem; }
  .overview thead { display: none; }
  .overview tr { display: block; padding: .75rem 0; border-bottom: 1px solid var(--grid); }
  .overview th, .overview td { display: block; padding: 0; border: 0; }
  .overview th { font-size: 1rem; font-weight: 600; }
  .overview td:empty { display: none; }
  .title { display: inline; }
}
@media print {
  :root { color-scheme: light; ${LIGHT} }
  @page { margin: 15mm; }
  body { font-size: .875rem; }
  main { max-width: none; padding: 0; }
  .note, tr { break-inside: avoid; }
  h2, h3, figcaption { break-after: avoid; }
  details:not([open]) { display: none; }
  .scroll { overflow: visible; }
  figure:has(details[open]) { break-inside: auto; }
  table { font-size: .6875rem; }
  th, td { padding-right: .75rem; white-space: normal; overflow-wrap: anywhere; }
  .long { min-width: 0; }
}
`;
