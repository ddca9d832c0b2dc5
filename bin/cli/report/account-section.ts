// One account: what is known of it at a glance, what waits for a person, and the figures.

import type { AccountReport, ReportedAccount } from "./data/account-report.ts";
import { facts } from "./facts.ts";
import { fieldsFigure } from "./figures/fields-figure.ts";
import { leftOutFigure } from "./figures/left-out-figure.ts";
import { publicationsFigure } from "./figures/publications-figure.ts";
import { requestsFigure } from "./figures/requests-figure.ts";
import { runsFigure } from "./figures/runs-figure.ts";
import { storageFigure } from "./figures/storage-figure.ts";
import { type CommandsFor, heldNotes } from "./held-notes.ts";
import { figure } from "./page/figure.ts";
import { type Html, html } from "./page/html.ts";

export async function accountSection(
  one: ReportedAccount,
  nowMs: number,
  commandsFor: CommandsFor,
): Promise<Html> {
  const { account } = one;
  const content =
    "damage" in one ? damageNote(one.damage.code, one.damage.message) : await report(one, nowMs, commandsFor);
  return html`<section class="account" id="account-${account}">
<h2>${account}</h2>
${content}</section>
`;
}

async function report(one: AccountReport, nowMs: number, commandsFor: CommandsFor): Promise<readonly Html[]> {
  const found = [
    publicationsFigure(one.publications),
    runsFigure(one),
    requestsFigure(one),
    one.leftOut && leftOutFigure(one.leftOut),
    fieldsFigure(one.fieldNews),
    storageFigure(one.storage),
  ].filter((each) => each !== undefined);
  const figures: Html[] = [];
  for (const each of found) figures.push(await figure(each));
  return [facts(one, nowMs), ...heldNotes(one.status, commandsFor), ...failedNote(one), ...figures];
}

function failedNote({ runs }: AccountReport): readonly Html[] {
  const last = runs.at(-1);
  if (last?.outcome !== "FAILED" || last.error_message === null) return [];
  return [
    html`<div class="note failed"><h3>The last run failed${last.error_code === null ? "" : `: ${last.error_code}`}</h3>
<p>${last.error_message}</p>
</div>
`,
  ];
}

function damageNote(code: string, message: string): Html {
  return html`<div class="note failed"><h3>This account cannot be read: ${code}</h3>
<p>${message}</p>
</div>
`;
}
