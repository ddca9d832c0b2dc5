// A session of one's own DuckDB that has read views.sql, while runs publish.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { expect, test } from "vitest";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { laptop } from "../command-line.ts";

test("a session keeps the events and publications of the views.sql that it has read, and sees runs as they are now [D29]", async () => {
  const { simulator, ask, warehouse } = await laptop({ events: makeEvents(5) });
  await ask("run");
  const connection = await (await DuckDBInstance.create(":memory:")).connect();
  await connection.run(await readFile(join(warehouse, "views.sql"), "utf8"));
  const counts = async (): Promise<unknown> => {
    const tables = ["events", "event_snapshots", "event_changes", "publications", "sync_runs"];
    const each = tables.map((table) => `(SELECT count(*)::INTEGER FROM ${table}) AS ${table}`);
    return (await connection.runAndReadAll(`SELECT ${each.join(", ")}`)).getRowObjects()[0];
  };
  const before = await counts();

  simulator.setEvents(makeEvents(6));
  const { exitCode } = await ask("run");

  expect(exitCode).toBe(0);
  const seen = { events: 5, event_snapshots: 5, event_changes: 5 };
  expect(before).toEqual({ ...seen, publications: 1, sync_runs: 1 });
  expect(await counts()).toEqual({ ...seen, publications: 1, sync_runs: 2 });
});
