// The figures of the page, each with its finding, chart, and the table behind it; and lines for what needs no figure.

import { countText } from "../../../lambdas/job/run/record/texts.ts";
import { type Html, html } from "../output/html.ts";
import { minute } from "../output/words.ts";

export interface Figure {
  readonly finding: string;
  /** A sentence on what else is worth one. */
  readonly description?: string;
  /** Undefined where there is too little to draw. */
  readonly chart?: Html | undefined;
  /** Undefined where the sentences say everything. */
  readonly table?: Table | undefined;
}

/** So few rows need not be opened. */
const OPEN_ROWS = 6;

/** Figures without a chart and a table are lines below the others. */
export function figures(all: readonly Figure[]): readonly Html[] {
  const { drawn = [], lines = [] } = Object.groupBy(all, ({ chart, table: behind }) =>
    chart || behind ? "drawn" : "lines",
  );
  const items = lines.map(
    ({ finding, description = "" }) => html`<li>${`${finding}. ${description}`.trimEnd()}</li>\n`,
  );
  return [
    ...(drawn.length > 0 ? [html`<div class="figures">\n${drawn.map(figure)}</div>\n`] : []),
    ...(items.length > 0 ? [html`<ul class="lines">\n${items}</ul>\n`] : []),
  ];
}

function figure({ finding, description, chart, table: behind }: Figure): Html {
  const drawn = chart ? html`<div class="chart" role="img" aria-label="${finding}">\n${chart}</div>\n` : "";
  const more = description === undefined ? "" : html`\n<p class="quiet">${description}</p>`;
  return html`<figure>
<figcaption><h3>${finding}</h3>${more}</figcaption>
${drawn}${behind ? details(behind, chart === undefined && behind.length <= OPEN_ROWS) : ""}</figure>
`;
}

export function details({ label, content }: Table, isOpen = false): Html {
  return html`<details${isOpen ? html` open` : ""}><summary>${label}</summary>
${content}
</details>
`;
}

interface Table {
  /** The description for people who do not see the page. */
  readonly label: string;
  /** How many rows it has. */
  readonly length: number;
  readonly content: Html;
}

/** Numbers stand on the right, long texts are broken. Null is an empty cell. */
type Column<T> = readonly [
  title: string,
  cellOf: (row: T) => string | number | null | Html,
  kind?: "number" | "long",
];

/** A wide one scrolls by itself, not the page. */
export function table<T>(label: string, rows: readonly T[], columns: readonly Column<T>[]): Table {
  const head = columns.map(([title, , kind]) => html`<th scope="col"${classOf(kind)}>${title}</th>`);
  const body = rows.map((row) => {
    const cells = columns.map(([, cellOf, kind], index) => {
      const cell = cellOf(row) ?? "";
      const shown = typeof cell === "number" ? countText(cell) : cell;
      return index === 0
        ? html`<th scope="row"${classOf(kind)}>${shown}</th>`
        : html`<td${classOf(kind)}>${shown}</td>`;
    });
    return html`<tr>${cells}</tr>\n`;
  });
  const content = html`<div class="scroll" role="group" aria-label="${label}" tabindex="0"><table>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table></div>`;
  return { label, length: rows.length, content };
}

/** An instant of a log, in a column whose title says that it is in UTC. */
export function instantCell(instant: string): string {
  return minute(Date.parse(instant)).replace(" UTC", "");
}

const UNITS = [
  { name: "GiB", bytes: 1024 ** 3 },
  { name: "MiB", bytes: 1024 ** 2 },
  { name: "KiB", bytes: 1024 },
];

/** The unit in which sizes up to this one are easy to read. */
export function sizeUnit(bytes: number): (typeof UNITS)[number] {
  return UNITS.find((unit) => bytes >= unit.bytes) ?? { name: "bytes", bytes: 1 };
}

/** A number of bytes as people read it: `1.2 MiB`. */
export function sizeText(bytes: number): string {
  const { name, bytes: unit } = sizeUnit(bytes);
  const size = bytes / unit;
  return `${unit === 1 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${name}`;
}

function classOf(kind: Column<never>[2]): Html {
  return kind === undefined ? html`` : html` class="${kind}"`;
}
