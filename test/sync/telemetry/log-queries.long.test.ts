// The saved queries on the log that the function really writes.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { LOG_QUERIES, queryText } from "../../../lib/monitoring/dashboard.ts";

const PROGRAM = fileURLToPath(new URL("logged-invocations.ts", import.meta.url));
const run = (day: number): string => `2026-01-0${day}T06-00-00.000Z`;

let lines: readonly LogLine[];

beforeAll(async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [PROGRAM], { env: {} });
  lines = `${stdout}${stderr}`
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line))
    // The instant is that of its arrival: the order of the lines.
    .map((line, index) => ({ ...line, "@timestamp": String(index).padStart(6, "0") }));
});

function rowsOf(title: string, change = (text: string): string => text): readonly LogLine[] {
  const query = LOG_QUERIES.find((each) => each.title === title);
  if (query === undefined) throw new Error(`there is no query ${title}`);
  return insightsQuery(change(queryText(query)), lines);
}

describe("the saved query", () => {
  test("What each account did last shows the last line of each account", () => {
    expect(rowsOf("What each account did last")).toEqual([
      {
        account: "uk",
        at: expect.any(String),
        last_line: expect.stringMatching(/account .* disabled/i),
        run: run(4),
      },
    ]);
  });

  test("Last success of each account shows the counts of the last publication", () => {
    expect(rowsOf("Last success of each account")).toEqual([
      { published_at: expect.any(String), account: "uk", Events: 4, Added: 0, Changed: 1, Removed: 0 },
    ]);
  });

  test("How runs ended shows outcome and reason of each, the latest first", () => {
    const rows = rowsOf("How runs ended");

    expect(rows.map(({ run_id, outcome, reason }) => [run_id, outcome, reason])).toEqual([
      [run(4), "FAILED", "ACCOUNT_DISABLED"],
      [run(3), "HELD", "DROPPED"],
      [run(2), "PUBLISHED", undefined],
      [run(1), "PUBLISHED", undefined],
    ]);
    for (const row of rows) {
      expect(row).toMatchObject({ account: "uk", attempt: 1, seconds: expect.any(Number) });
    }
  });

  test("Errors and warnings shows the code and the message of a failed run", () => {
    expect(rowsOf("Errors and warnings")[0]).toMatchObject({
      level: "ERROR",
      account: "uk",
      run_id: run(4),
      error_code: "ACCOUNT_DISABLED",
      message: expect.stringMatching(/\S/),
    });
  });

  test("One run from its first line to its last shows all lines of the run that is named", () => {
    const rows = rowsOf("One run from its first line to its last", (text) =>
      text.replace("2026-11-21T06-00-00.000Z", run(2)),
    );

    expect(rows.at(0)?.["message"]).not.toMatch(/^ended/);
    expect(rows.at(-1)).toMatchObject({ level: "INFO", message: "ended as PUBLISHED" });
  });

  test("Requests, retries and throttling of each account adds up the attempts", () => {
    const [row, ...others] = rowsOf("Requests, retries and throttling of each account");

    expect(others).toEqual([]);
    expect(row).toMatchObject({ account: "uk", attempts: 4, retries: 0, throttled: 0 });
    expect(row?.["requests"]).toBeGreaterThan(10);
  });

  test("Time and memory of invocations uses only what Lambda itself logs", () => {
    const query = LOG_QUERIES.find(({ title }) => title === "Time and memory of invocations");

    const fields = [...String(query?.commands.join(" ")).matchAll(/@\w+/g)].map(([name]) => name);

    expect(new Set(fields)).toEqual(new Set(["@type", "@duration", "@maxMemoryUsed", "@memorySize"]));
  });
});

test("an event that was not sent is a line that the filter of the alarm not-told finds", () => {
  const found = lines.filter((line) => line["EventNotSent"] === 1);

  // Run Started and Snapshot Held.
  expect(found.map(({ account }) => account)).toEqual(["uk", "uk"]);
});

// A query of CloudWatch Logs Insights, as far as ours use the language. What it does not know it refuses.

/** A line of the log, as Logs Insights discovers its fields: those of its JSON, and its instant. */
type LogLine = Readonly<Record<string, unknown>>;

const NAME = String.raw`@?[\w]+`;

/**
 * A query of CloudWatch Logs Insights, as far as ours use the language. What it does not know it refuses.
 * @param text commands, separated by `|`; returns the rows that the console would show
 */
function insightsQuery(text: string, lines: readonly LogLine[]): readonly LogLine[] {
  let shown: readonly string[] | undefined;
  let rows = lines;
  for (const command of text.split(/\n\| /)) {
    const [, name = "", rest = ""] = /^(\w+) (.+)$/.exec(command) ?? [];
    if (name === "fields") {
      const fields = rest.split(", ").map((field) => parts(field, new RegExp(`^(${NAME})(?: as (\\w+))?$`)));
      shown = fields.map(([from = "", as = from]) => as);
      rows = rows.map((row) =>
        Object.fromEntries([
          ...Object.entries(row),
          ...fields.map(([from = "", as = from]) => [as, row[from]]),
        ]),
      );
    } else if (name === "filter") {
      const conditions = rest.split(" and ").map(condition);
      rows = rows.filter((row) => conditions.every((holds) => holds(row)));
    } else if (name === "sort") {
      const [field = "", order] = parts(rest, new RegExp(`^(${NAME}) (asc|desc)$`));
      const sign = order === "asc" ? 1 : -1;
      rows = rows.toSorted((a, b) => sign * compare(a[field], b[field]));
    } else if (name === "limit") rows = rows.slice(0, Number(rest));
    else if (name === "dedup")
      rows = [...Map.groupBy(rows, (row) => row[rest]).values()].flatMap((same) => same.slice(0, 1));
    else if (name === "stats") {
      const [aggregates = "", by = ""] = parts(rest, /^(.+) by (\w+)$/);
      const columns = aggregates
        .split(", ")
        .map((each) => parts(each, /^(count|sum|max|latest)\((.+)\) as (\w+)$/));
      shown = [by, ...columns.map(([, , as = ""]) => as)];
      rows = [...Map.groupBy(rows, (row) => row[by])].map(([group, same]) =>
        Object.fromEntries([
          [by, group],
          ...columns.map(([how = "", of = "", as = ""]) => [as, aggregate(how, of, same)]),
        ]),
      );
    } else throw new Error(`the command ${command} is not evaluated here`);
  }
  return rows.map((row) => Object.fromEntries((shown ?? []).map((field) => [field, row[field]])));
}

function condition(text: string): (row: LogLine) => boolean {
  const [present] = /^ispresent\((@?\w+)\)$/.exec(text)?.slice(1) ?? [];
  if (present !== undefined) return (row) => row[present] !== undefined;
  const [field = "", operator, value = ""] = parts(text, new RegExp(`^(${NAME}) (=|in|like) (.+)$`));
  if (operator === "like") {
    const pattern = new RegExp(value.slice(1, -1));
    return (row) => pattern.test(String(row[field] ?? ""));
  }
  const wanted: unknown = JSON.parse(value);
  return (row) => (Array.isArray(wanted) ? wanted.includes(row[field]) : row[field] === wanted);
}

function aggregate(how: string, of: string, rows: readonly LogLine[]): unknown {
  const values = rows.map((row) => row[of]);
  const numbers = values.filter((value) => typeof value === "number");
  switch (how) {
    case "count":
      return rows.length;
    case "sum":
      return numbers.reduce((sum, value) => sum + value, 0);
    case "max":
      return Math.max(...numbers);
    default:
      return rows
        .toSorted((a, b) => compare(a["@timestamp"], b["@timestamp"]))
        .findLast((row) => row[of] !== undefined)?.[of];
  }
}

function compare(a: unknown, b: unknown): number {
  return String(a) < String(b) ? -1 : Number(String(a) > String(b));
}

function parts(text: string, pattern: RegExp): readonly string[] {
  const found = pattern.exec(text);
  if (found === null) throw new Error(`${text} is not evaluated here`);
  return found.slice(1);
}
