// A figure of the page: its finding, what is shown, the chart for wide and for narrow screens, and the table behind it.

import { Html, html } from "./html.ts";
import { type Chart, svg } from "./plot.ts";

export interface Figure {
  /** In one sentence. */
  readonly finding: string;
  /** What the chart shows and in which unit, and what else is worth a sentence. */
  readonly description: string;
  /** Undefined where there is too little to draw. */
  readonly chart: Chart | undefined;
  /** Undefined where the finding says everything. */
  readonly table: TableContent | undefined;
}

/** What the page has room for, and a phone of 360 pixels. */
const [WIDE, NARROW] = [720, 328];
/** So few rows need not be opened. */
const OPEN_ROWS = 6;

export function figure({ finding, description, chart, table: content }: Figure): Html {
  const drawings = chart ? [svg(chart, WIDE, "wide", finding), svg(chart, NARROW, "narrow", finding)] : [];
  const isOpen = chart === undefined && (content?.rows.length ?? 0) <= OPEN_ROWS;
  return html`<figure>
<figcaption><h3>${finding}</h3>
<p class="quiet">${description}</p></figcaption>
${drawings}${content ? details(content, isOpen) : ""}</figure>
`;
}

function details(content: TableContent, isOpen: boolean): Html {
  return html`<details${isOpen ? new Html(" open") : ""}><summary>${content.label}</summary>
${table(content)}
</details>
`;
}

/** A table of the page. Wide ones scroll by themselves, not the page. */
interface Column {
  readonly title: string;
  /** Numbers stand on the right, long texts are broken. */
  readonly kind?: "number" | "long";
}

interface TableContent {
  /** For people who do not see the page. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly (string | Html)[])[];
  /** On a phone each row is a card, whose lines begin with the titles of the columns. */
  readonly hasCards?: true;
}

export function table({ label, columns, rows, hasCards }: TableContent): Html {
  const head = columns.map(({ title, kind }) => html`<th scope="col"${classOf(kind)}>${title}</th>`);
  const body = rows.map((row) => {
    const cells = row.map((cell, index) =>
      index === 0
        ? html`<th scope="row"${classOf(columns[index]?.kind)}>${cell}</th>`
        : html`<td${hasCards ? html` data-title="${columns[index]?.title ?? ""}"` : ""}${classOf(columns[index]?.kind)}>${cell}</td>`,
    );
    return html`<tr>${cells}</tr>\n`;
  });
  return html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
}

function classOf(kind: Column["kind"]): Html {
  return kind === undefined ? new Html("") : html` class="${kind}"`;
}
