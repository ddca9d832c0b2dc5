// `discover`: shows which fields events have, and the options that make columns of them.

import { shellWord } from "../../../lambdas/job/errors/shell-word.ts";
import { DEFAULT_SAMPLE, type Discovery, discover } from "../../../lambdas/job/run/discover.ts";
import { typesOf } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import type { LiftedColumn } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { givenSettings, SERVICE_OPTIONS } from "../options/given-settings.ts";
import { EXIT } from "../output/exit-code.ts";
import { count, plural } from "../output/progress-text.ts";
import { formatTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { servicePorts } from "../wiring/service-ports.ts";
import type { CommandSpec } from "./command.ts";

const OPTIONS = [...SERVICE_OPTIONS, "lift", "limit", "all"] as const;

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
      context.result({ json: found, line: `${found.outcome.padEnd(11)} ${found.reason}` });
      context.stderr.message(`${found.outcome}: ${found.explanation}`);
      return EXIT.skipped;
    }
    const line = `ok          ${plural(found.fields.length, "field")} of ${plural(found.events, "event")}`;
    context.result({ json: asJson(found), line });
    if (!values.json) print(found, context.stdout);
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

function print(discovery: Discovery, terminal: Terminal): void {
  const { listed, events, fields, isComplete } = discovery;
  if (events === 0) {
    terminal.line("The service lists no events, so there is nothing to discover yet.");
    return;
  }
  const rows = fields.map((field) => [
    field.pointer,
    typesOf(field).join(", "),
    `${Math.round((field.count / events) * 100)} %`,
  ]);
  terminal.text(formatTable({ columns: ["field", "types", "share of events"], rows }, { maxWidth: 60 }));
  terminal.lines([
    `${count(events)} of ${count(listed)} listed events were read.${isComplete ? "" : " They have more fields than these."}`,
    ...advice(discovery),
  ]);
}

function advice({ columns, suggestions }: Discovery): readonly string[] {
  const other = columns.length === 0 ? "" : "other ";
  if (suggestions.length === 0) {
    return [`No ${other}field that half of them have is fit for a column of its own.`];
  }
  const options = [
    ...columns.map(({ name, pointers: [pointer = "POINTER"] }) => liftText({ name, pointer })),
    ...suggestions.map(liftText),
  ].map((text) => `--lift ${shellWord(text)}`);
  return [
    columns.length === 0
      ? "Columns of your own: give run those that you want. Later runs use them without the options:"
      : `The warehouse has ${plural(columns.length, "column")} of your own, and runs use what is there. To add columns, give run what is there first, then the new ones that you want:`,
    ...options.map((option, index) => `  ${option}${index === options.length - 1 ? "" : " \\"}`),
  ];
}

function liftText({ name, pointer }: LiftedColumn): string {
  return `${name}=${pointer}`;
}
