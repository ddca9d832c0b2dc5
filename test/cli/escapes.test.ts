// Texts of others, from files, names, SQL and arguments, reach a terminal without any power over it.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { FAILED } from "../sync/rows.ts";
import { lastJson, sync } from "./command-line.ts";

const HOSTILE = "\u001b[2J\u009b31m\u202e\nPUBLISHED";
const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

/** A run log whose texts are hostile, as a service or a colleague could leave one. */
async function warehouseWithHostileLog(cwd: string): Promise<void> {
  const row = { ...FAILED, reason: `${HOSTILE}\u0085`, error_message: HOSTILE };
  const folder = join(cwd, "warehouse", "run-log", "default");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${FAILED.run_id}-1.ndjson`), `${JSON.stringify(row)}\n`);
}

test.each([
  ["SQL that DuckDB quotes", ["query", `SELECT * FROM "${HOSTILE}"`]],
  ["the name of a file", ["run", ...LOOPBACK, "--credentials", `${HOSTILE}.json`]],
  ["an unknown option", ["run", `--${HOSTILE}`]],
  ["an unknown command", [HOSTILE]],
  ["a wrong pointer", ["run", ...LOOPBACK, "--list-pointer", HOSTILE]],
  ["an id", ["accept", HOSTILE]],
  ["the run log", ["status"]],
])("%s controls no terminal and forges no line", async (_, args) => {
  const cwd = await temporaryDirectory();
  await warehouseWithHostileLog(cwd);

  const { stdout, stderr } = await sync(args, { cwd });

  const shown = stdout + stderr;
  expect(shown).toContain("PUBLISHED");
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\p{Control}\u202e]/u);
  expect(shown).not.toMatch(/^PUBLISHED/m);
});

test("status --json is one line, and its texts are whole", async () => {
  const cwd = await temporaryDirectory();
  await warehouseWithHostileLog(cwd);

  const ended = await sync(["status", "--account", "default", "--json"], { cwd });

  expect(ended.stdout).not.toMatch(/\u0085|\u009b|\u202e/);
  expect(lastJson(ended)["runs"]).toMatchObject([{ reason: `${HOSTILE}\u0085` }]);
});
