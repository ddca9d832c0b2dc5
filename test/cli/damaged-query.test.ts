// `query` as a person uses it, on a warehouse of which one bit has flipped.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

test("a damaged part is named instead of shown; other tables can be read; a repaired part too", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  const run = lastJson(await sync(["run", "--json", ...against(simulator)], { cwd }));
  const part = `snapshots/default/${run["snapshot_id"]}/part-00000.ndjson.gz`;
  const file = join(cwd, "warehouse", part);
  const ask = (sql: string) => sync(["query", "--json", sql], { cwd });
  const whole = await ask("SELECT count(*) FROM events");
  const bytes = await readFile(file);
  const flipped = Buffer.from(bytes);
  const middle = Math.floor(bytes.length / 2);
  flipped.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);

  await writeFile(file, flipped);
  const damaged = await ask("SELECT count(*) FROM events");
  const others = await ask("SELECT count(*) FROM publications, event_changes");
  await writeFile(file, bytes);
  const repaired = await ask("SELECT count(*) FROM events");

  expect(lastJson(whole)).toMatchObject({ rows: [["3"]] });
  expect(damaged).toMatchObject({ exitCode: 1, stdout: expect.not.stringContaining("rows") });
  expect(damaged.stderr).toContain(`The file ${part} is damaged`);
  expect(lastJson(others)).toMatchObject({ rows: [["3"]] });
  expect(lastJson(repaired)).toMatchObject({ rows: [["3"]] });
});
