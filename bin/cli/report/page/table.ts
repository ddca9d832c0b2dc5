// A table of the page. Wide ones scroll by themselves, not the page.

import { Html, html } from "./html.ts";

interface Column {
  readonly title: string;
  /** Numbers stand on the right, long texts are broken. */
  readonly kind?: "number" | "long";
}

export interface TableContent {
  /** For people who do not see the page. */
  readonly label: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly (string | Html)[])[];
}

export function table({ label, columns, rows }: TableContent): Html {
  const head = columns.map(({ title, kind }) => html`<th scope="col"${classOf(kind)}>${title}</th>`);
  const body = rows.map((row) => {
    const cells = row.map((cell, index) =>
      index === 0
        ? html`<th scope="row"${classOf(columns[index]?.kind)}>${cell}</th>`
        : html`<td${classOf(columns[index]?.kind)}>${cell}</td>`,
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
