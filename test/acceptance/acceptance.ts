// Goes through the rows, one after the other, and writes down what it saw.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { AS_STATED } from "./as-stated.ts";
import { BESIDES } from "./besides.ts";
import { RESOURCES } from "./resources.ts";
import { type At, type Row, Skipped } from "./row.ts";
import { RUNS } from "./runs.ts";

type Result = "passed" | "failed" | "skipped";

interface Seen {
  readonly row: Row;
  readonly result: Result;
  readonly saw: string;
  readonly seconds: number;
}

export interface AcceptanceOptions extends At {
  readonly stack: string;
  readonly isEmulated: boolean;
  /** Also where the account has published. */
  readonly evenPublished: boolean;
  /** The folder of the record. */
  readonly folder: string;
  readonly print: (line: string) => void;
}

export const ROWS: readonly Row[] = [...RUNS, ...AS_STATED, ...BESIDES, ...RESOURCES];

/** Returns how many rows failed. What others have published is looked at before any row starts a run. */
export async function accept(options: AcceptanceOptions): Promise<number> {
  const { deployed, account, print } = options;
  const startedAt = new Date().toISOString();
  const isTouched = options.evenPublished || (await deployed.keys(layout(account).publications)).length === 0;
  const all: Seen[] = [];
  // What runs leave is looked at after them.
  for (const row of ROWS) {
    const seen = await look(row, options, isTouched);
    all.push(seen);
    print(lineOf(seen));
  }
  const record = await write(options, startedAt, all);
  const failed = all.filter(({ result }) => result === "failed").length;
  const skipped = all.filter(({ result }) => result === "skipped").length;
  print(
    `${all.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped; recorded in ${record}`,
  );
  return failed;
}

async function look(row: Row, options: AcceptanceOptions, isTouched: boolean): Promise<Seen> {
  const startMs = performance.now();
  const end = (result: Result, saw: string): Seen => ({
    row,
    result,
    saw,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
  });
  if (options.isEmulated && row.notOnEmulator !== undefined) {
    return end("skipped", `the emulator cannot show it: ${row.notOnEmulator}`);
  }
  if (row.touchesAccount && !isTouched) {
    return end("skipped", `${options.account} has published: --even-published looks at it too`);
  }
  try {
    return end("passed", await row.see(options));
  } catch (error) {
    return end(
      error instanceof Skipped ? "skipped" : "failed",
      error instanceof Error ? error.message : String(error),
    );
  }
}

function lineOf({ row, result, saw, seconds }: Seen): string {
  const line = `${result.padEnd(7)} ${row.name} (${seconds} s): ${saw}`;
  return result === "failed"
    ? `${line}\n        expected: ${row.expects}\n        remedy: ${row.remedy}`
    : line;
}

/** As Markdown for people, and as JSON. Returns the path of the first. */
async function write(options: AcceptanceOptions, startedAt: string, all: readonly Seen[]): Promise<string> {
  const { stack, account, folder } = options;
  const path = join(folder, startedAt.replaceAll(":", "-"));
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  const rows = all.map(({ row, result, saw, seconds }) => {
    const cells = [
      row.name,
      row.does,
      row.expects,
      result,
      saw,
      String(seconds),
      result === "failed" ? row.remedy : "",
    ];
    return `| ${cells.map(cell).join(" | ")} |`;
  });
  const page = [
    `# Acceptance of the stack ${stack}`,
    "",
    `The account ${account}, ${startedAt}${options.isEmulated ? ", on an emulator of AWS" : ""}.`,
    "",
    "| Row | Does | Expects | Result | Saw | Seconds | Remedy |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ];
  const results = all.map(({ row: { name, remedy }, ...seen }) => ({ name, ...seen, remedy }));
  await mkdir(folder, { recursive: true });
  await writeFile(`${path}.md`, `${page.join("\n")}\n`);
  await writeFile(`${path}.json`, `${JSON.stringify({ stack, account, startedAt, results }, null, 2)}\n`);
  return `${path}.md`;
}
