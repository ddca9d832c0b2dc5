// The whole page.

import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import { statusTable } from "../output/describe-status.ts";
import { minute } from "../output/minute.ts";
import { accountSection } from "./account-section.ts";
import type { ReportedAccount } from "./data/account-report.ts";
import { headline } from "./headline.ts";
import type { CommandsFor } from "./held-notes.ts";
import { Html, html } from "./page/html.ts";
import { PATTERNS } from "./page/patterns.ts";
import { POLICY, STYLE_SHEET } from "./page/style-sheet.ts";
import { table } from "./page/table.ts";

interface ReportPage {
  readonly accounts: readonly ReportedAccount[];
  /** As a person named it. */
  readonly warehouse: string;
  readonly nowMs: number;
  readonly commandsFor: CommandsFor;
}

export async function reportPage({ accounts, warehouse, nowMs, commandsFor }: ReportPage): Promise<string> {
  const title = headline(accounts, nowMs);
  const isOnly = accounts.length === 1;
  const sections: Html[] = [];
  for (const one of accounts) sections.push(await accountSection(one, nowMs, commandsFor));
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${isOnly ? `${accounts[0]?.account}: ${title}` : title}</title>
<style>${new Html(STYLE_SHEET)}</style>
</head>
<body>
${PATTERNS}<main>
<p class="quiet program">brand-events-sync</p>
<h1>${title}</h1>
<p class="quiet made">Warehouse ${warehouse}, ${minute(nowMs)}</p>
${isOnly ? "" : overview(accounts, nowMs)}${sections}<footer class="quiet">Made by brand-events-sync ${VERSION} from the logs of the warehouse. All times are UTC. The page holds counts, names of fields and messages, and no event.</footer>
</main>
</body>
</html>
`.text;
}

function overview(accounts: readonly ReportedAccount[], nowMs: number): Html {
  const found = accounts.map((one) => ("damage" in one ? one : one.status));
  const { columns, rows } = statusTable(found, nowMs);
  const linked = rows.map((cells) => {
    const [account = "", ...others] = cells.map((cell) => cell ?? "");
    return [html`<a href="#account-${account}">${account}</a>`, ...others];
  });
  return html`<div class="overview">${table({ label: "All accounts", columns: columns.map((title) => ({ title })), rows: linked })}</div>
`;
}
