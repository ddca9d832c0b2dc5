// `discover`: shows which fields events have, and the options that make columns of them.

import { shellWord } from "../../../lambdas/job/errors/shell-word.ts";
import { DEFAULT_SAMPLE, type Discovery, discover } from "../../../lambdas/job/run/discover.ts";
import { typesOf } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { LiftedColumn } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { givenSettings, SERVICE_OPTIONS } from "../options/given-settings.ts";
import { EXIT } from "../output/exit-code.ts";
import { count } from "../output/progress-text.ts";
import { formatTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { servicePorts } from "../wiring/service-ports.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = [...SERVICE_OPTIONS, "limit"] as const;

export const discoverCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "discover",
  summary: "read a sample of the events and show their fields, and which could be columns",
  options: OPTIONS,
  example: "discover --base-url https://service.example --limit 200",
  execute: async (values, context) => {
    const settings = givenSettings(values);
    const { ports, display } = await servicePorts(values, settings, context);
    const found = await discover(ports, settings, values.limit ?? DEFAULT_SAMPLE).finally(() =>
      display.end(),
    );
    if ("outcome" in found) {
      if (values.json) context.stdout.json(found);
      context.stderr.message(`${found.outcome}: ${found.explanation}`);
      return EXIT.skipped;
    }
    if (values.json) context.stdout.json(asJson(found));
    else print(found, context.stdout);
    return EXIT.done;
  },
};

function asJson({ fields, suggestions }: Discovery): object {
  return {
    fields: fields.map((field) => {
      const types = [...typesOf(field)].sort();
      return { pointer: field.pointer, types, count: field.count };
    }),
    suggestions: suggestions.map(liftText),
  };
}

function print({ listed, events, fields, isComplete, suggestions }: Discovery, terminal: Terminal): void {
  if (events === 0) {
    terminal.line("The service lists no events, so there is nothing to discover yet.");
    return;
  }
  const rows = fields.map((field) => [
    field.pointer,
    typesOf(field).join(", "),
    `${Math.round((field.count / events) * 100)} %`,
  ]);
  terminal.text(formatTable({ columns: ["field", "types", "share of events"], rows }));
  terminal.lines([
    `${count(events)} of ${count(listed)} listed events were read.${isComplete ? "" : " They have more fields than these."}`,
    ...advice(suggestions),
  ]);
}

function advice(suggestions: readonly LiftedColumn[]): readonly string[] {
  if (suggestions.length === 0) return ["No field that half of them have is fit for a column of its own."];
  return [
    "Columns of your own: give run those you want, after any that it has already, and always in the same order:",
    ...suggestions.map((column, index) => {
      const isLast = index === suggestions.length - 1;
      return `  --lift ${shellWord(liftText(column))}${isLast ? "" : " \\"}`;
    }),
  ];
}

function liftText({ name, pointer }: LiftedColumn): string {
  return `${name}=${pointer}`;
}
