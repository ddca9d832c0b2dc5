// Draws a chart as SVG: without a script in the result, and the same on every machine.

import { type LoggerInterface, parse, resetSVGDefIds, textMetrics, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";
import { CHART_CONFIG, type ChartSpec } from "./chart-config.ts";

/**
 * `label` says to people who do not see the chart what it shows. Throws for whatever Vega warns of: a chart is the
 * program's own, so a warning is a defect.
 */
export async function drawChart(chart: ChartSpec, label: string): Promise<string> {
  // A canvas measures with the fonts of the machine, where somebody has installed one.
  textMetrics.canvas(false);
  // Ids count from the same number in each drawing.
  resetSVGDefIds();
  const logger = throwing();
  const { spec } = compile(chart as TopLevelSpec, { config: CHART_CONFIG, logger });
  const view = new View(parse(spec), { renderer: "none", logger });
  const svg = await view.toSVG();
  view.finalize();
  return asPartOfPage(svg, label);
}

/** Without what is invisible, or the page says otherwise, and with no more digits than an eye can see. */
function asPartOfPage(svg: string, label: string): string {
  const [, width = "", height = ""] = /^<svg[^>]* width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
  const body = svg
    .slice(svg.indexOf(">") + 1)
    .replaceAll(/<path class="(?:back|fore)ground"[^>]*\/>/g, "")
    .replaceAll(/ (?:role|aria-[a-z]+|pointer-events|class)="[^"]*"| opacity="1"/g, "")
    .replaceAll(/(?<!\d)-?\d+\.\d{3,}(?:e-\d+)?/g, (digits) => String(Number(Number(digits).toFixed(2))));
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">${body}`;
}

function throwing(): LoggerInterface {
  const logger: LoggerInterface = {
    level: () => logger,
    error: (...words) => refuse(words),
    warn: (...words) => refuse(words),
    info: () => logger,
    debug: () => logger,
  };
  return logger;
}

function refuse(words: readonly unknown[]): never {
  throw new Error(`Vega: ${words.map(String).join(" ")}`);
}
