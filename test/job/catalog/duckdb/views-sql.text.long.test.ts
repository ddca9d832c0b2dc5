// What a row holds comes back through DuckDB as it was written, however strange or long.

import { describe, expect, it } from "vitest";
import { query } from "../../../../bin/cli/query/query.ts";
import { eventRow, warehouse } from "../../../cli/warehouse.ts";

const ONE = "2026-11-21T06-00-00.000Z";

describe("the text of a row", () => {
  const TEXTS: readonly string[] = [
    "",
    "null",
    "1.10",
    "9007199254740993",
    '{"n":1e400,"a":1,"a":2,"10":0,"b":"\\u0000\\ud800\\u2028"}',
    "a\u2028b\u2029c\u0085d",
    "nul \u0000 in the middle",
    "\ufeffbyte order mark",
    "quotes ' \" ` and \\ backslashes \\\\",
    "line\nbreaks\r\nand\ttabs",
    "😀 é e\u0301 日本",
    `{"deep":${"[".repeat(300)}${"]".repeat(300)}}`,
    `"${"x".repeat(1_000_000)}"`,
  ];

  it("comes back byte for byte, whatever it is", async () => {
    const made = await warehouse();
    const hostile = TEXTS.map((text, index) =>
      eventRow(String(index).padStart(2, "0"), { event_date: text, scope: text, event: text, listing: text }),
    );
    await made.snapshot("uk", ONE, hostile);
    await made.publish("uk", { snapshot_id: ONE, events: TEXTS.length, added: 0 });

    const columns = ["event_date", "scope", "event", "listing"].map((name) => `to_base64(encode(${name}))`);
    const { rows } = await query(made.views, `SELECT ${columns} FROM events ORDER BY uuid`);

    const base64 = TEXTS.map((text) => Buffer.from(text).toString("base64"));
    expect(rows).toEqual(base64.map((text) => [text, text, text, text]));
  });

  it("may be as long as two details of 4 MiB, each three times as long with its escapes", async () => {
    const made = await warehouse();
    const detail = `"${"\u0085".repeat(2 * 1024 * 1024)}"`;
    const change = { uuid: "a", change: "changed", fields: "[]", before: detail, after: detail };
    await made.put(`changes/uk/0000000001/${ONE}/part-00000.ndjson.gz`, [change, change, change]);
    await made.publish("uk", { events: 0, added: 0, changed: 3 });

    const { rows } = await query(
      made.views,
      "SELECT count(*), min(length(before)), bool_and(after = before) FROM event_changes",
    );

    expect(rows).toEqual([["3", "2097154", "true"]]);
  });
});
