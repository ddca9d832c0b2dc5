// A query of CloudWatch Logs Insights, as far as ours use the language. What it does not know it refuses.

/** A line of the log, as Logs Insights discovers its fields: those of its JSON, and its instant. */
export type LogLine = Readonly<Record<string, unknown>>;

const NAME = String.raw`@?[\w]+`;

/** @param text commands, separated by `|`; returns the rows that the console would show */
export function insightsQuery(text: string, lines: readonly LogLine[]): readonly LogLine[] {
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
