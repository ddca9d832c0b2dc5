// `diff`: what differs between two snapshots, such as a held one and the one that readers see.

import { type DiffTask, diff, sinceTask } from "../../../lambdas/job/commands/diff.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { countText } from "../../../lambdas/job/run/record/texts.ts";
import { FirstChanges } from "../../../lambdas/job/snapshot/rows/first-changes.ts";
import { type AccountStore, accountStore } from "../../../lambdas/job/storage/store.ts";
import { type OptionValues, PLACE_OPTIONS, type TextFormat } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { changesTable, changesText, chosenFormat, formatResult } from "../output/format-result.ts";
import { changeCounts, firstOf } from "../output/words.ts";
import { command } from "../wiring/command.ts";
import { openWarehouse, refuseMissingWarehouse, refuseUnknownAccount } from "../wiring/open-warehouse.ts";

const OPTIONS = [...PLACE_OPTIONS, "since", "limit", "values", "format", "full", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

const DEFAULT_ROWS = 100;
/** What is shown is collected first: only at the end it is known that no file is damaged. */
const MOST_ROWS = 100_000;

export const diffCommand = command({
  name: "diff",
  group: "Decide",
  summary:
    "show what publishing a snapshot would change, or what differs between two: added events are only in the first",
  arguments: [
    ["[a]", 'the snapshot: its id, or "held" for the newest held one; with --since none'],
    ["[b]", "the other one; without it the snapshot that readers see"],
  ],
  options: OPTIONS,
  example: "diff held --account uk",
  execute: async (values, context, a, b) => {
    const { account, json, limit = DEFAULT_ROWS } = values;
    const format = formOf(values);
    if (limit > MOST_ROWS) {
      throw new SyncError(
        "CONFIG_INVALID",
        `--limit: expected a whole number from 1 to ${MOST_ROWS}, and got ${limit}. diff counts all changes, whatever it shows.`,
      );
    }
    const store = accountStore((await openWarehouse(values, context)).store, account);
    await refuseMissingWarehouse(store, values);
    await refuseUnknownAccount(store);
    const first = new FirstChanges(limit, { withValues: values.values });
    const { signal } = context;
    const task = await taskOf(values, store, a, b);
    const compared = await diff({ store, signal }, task, (change) => first.add(change));
    const { counts, rows } = first;
    context.result({ json: { ...compared, ...counts, rows }, line: changeCounts(counts) });
    if (json) return EXIT.done;

    const what = `${compared.a} compared with ${compared.b ?? nothing(values)}: ${changeCounts(counts)}${because(compared.reasons)}${firstOf(rows, counts)}`;
    // Only a table is for a person: the other forms are for programs, which want rows and nothing else.
    (format === "table" ? context.stdout : context.stderr).lines([what]);
    if (format === "table" && rows.length === 0) return EXIT.done;
    const width = values.full ? undefined : context.stdout.width;
    if (format === "table" && values.values) {
      context.stdout.text(changesText(rows, width));
      return EXIT.done;
    }
    const { columns, rows: texts } = changesTable(rows);
    await context.stdout.pieces(formatResult(format, { columns, batches: [texts] }, { width }));
    return EXIT.done;
  },
});

/** Throws `CONFIG_INVALID` unless it is said once what to compare, and `SNAPSHOT_NOT_FOUND` where nothing is published. */
async function taskOf({ since }: Values, store: AccountStore, a: string, b?: string): Promise<DiffTask> {
  if ((since === undefined) === (a === "")) throw new SyncError("CONFIG_INVALID", TWO_WAYS);
  return since === undefined ? { a, b } : sinceTask(store, Date.parse(since));
}

const TWO_WAYS =
  "diff compares two snapshots, diff <a> [b], or what readers see now with what they saw then, diff --since <instant>. Give one of the two.";

function nothing({ since }: Values): string {
  return `nothing, because nothing ${since === undefined ? "is published" : `was published by ${since}`}`;
}

/** ` (1 forbidden, 6 not listed)`: why the removed events are missing. */
function because(reasons: Awaited<ReturnType<typeof diff>>["reasons"]): string {
  const named = Object.entries(reasons).map(
    ([reason, n]) => `${countText(n)} ${reason.replaceAll("_", " ")}`,
  );
  return named.length === 0 ? "" : ` (${named.join(", ")})`;
}

function formOf(values: Values): TextFormat {
  const format = chosenFormat(values);
  if (format !== "parquet") return format ?? "table";
  throw new SyncError(
    "CONFIG_INVALID",
    "diff prints text, and Parquet is not text: choose --format table, vertical, csv, tsv, json or ndjson.",
  );
}
