// A figure of the page: its finding, what is shown, the chart for wide and for narrow screens, and the table behind it.

import type { Chart } from "../charts/chart-config.ts";
import { drawChart } from "../charts/draw-chart.ts";
import { escaped, Html, html } from "./html.ts";
import { type TableContent, table } from "./table.ts";

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

export async function figure({ finding, description, chart, table: content }: Figure): Promise<Html> {
  const drawings = chart ? [await drawn(chart, WIDE, "wide"), await drawn(chart, NARROW, "narrow")] : [];
  const isOpen = chart === undefined && (content?.rows.length ?? 0) <= OPEN_ROWS;
  return html`<figure>
<figcaption><h3>${finding}</h3>
<p class="quiet">${description}</p></figcaption>
${drawings}${content ? details(content, isOpen) : ""}</figure>
`;

  async function drawn(shape: Chart, width: number, className: string): Promise<Html> {
    const svg = await drawChart(shape(width), escaped(finding));
    return new Html(`${svg.replace("<svg", `<svg class="${className}"`)}\n`);
  }
}

function details(content: TableContent, isOpen: boolean): Html {
  return html`<details${isOpen ? new Html(" open") : ""}><summary>${content.label}</summary>
${table(content)}
</details>
`;
}
