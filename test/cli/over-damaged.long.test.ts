import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import {
  against,
  lastJson,
  printedCommand,
  printedCommands,
  sync,
  writeCredentials,
} from "./command-line.ts";

const ACCOUNT = "default";

test.each([
  [
    "a part",
    (id: string) => layout(ACCOUNT).part(id, 0),
    (bytes: Buffer) => gzipSync(gunzipSync(bytes).toString().replace("uuid", "uuie")),
  ],
  ["the manifest", (id: string) => layout(ACCOUNT).manifest(id), (bytes: Buffer) => bytes.subarray(1)],
])(
  "the command that a run prints when %s is damaged publishes over it",
  async (_, keyOf, spoil) => {
    const cwd = await temporaryDirectory();
    await using simulator = await Simulator.start({ events: makeEvents(12) });
    await writeCredentials(cwd, simulator);
    const run = async (...more: readonly string[]) =>
      sync(["run", ...more, "--json", ...against(simulator), "--lift", "brand=/brand/name"], { cwd });
    const older = String(lastJson(await run())["snapshot_id"]);
    const head = String(lastJson(await run())["snapshot_id"]);
    const key = keyOf(head);
    const file = join(cwd, "warehouse", key);
    await writeFile(file, spoil(await readFile(file)));

    const checked = await sync(["check", "--json", ...against(simulator)], { cwd });
    const failed = await run();
    const ended = await sync([...printedCommand(failed.stderr, "run"), "--json"], { cwd });

    expect(checked.exitCode).toBe(1);
    expect(lastJson(checked)["checks"]).toContainEqual({
      name: "snapshot",
      ok: false,
      code: "STORE_CORRUPT",
      remedy: expect.stringContaining(key),
    });
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain(key);
    expect(ended.exitCode).toBe(0);
    expect(lastJson(ended)).toMatchObject({
      outcome: "PUBLISHED",
      reason: "DAMAGED_HEAD",
      added: 12,
      events: 12,
    });
    const again = await run();
    expect(lastJson(again)).toMatchObject({ outcome: "PUBLISHED", reason: null });
    const bases = await sync(
      ["query", "--json", "SELECT base_snapshot_id FROM publications ORDER BY publication"],
      { cwd },
    );
    expect(lastJson(bases)["rows"]).toEqual([[null], [older], [null], [lastJson(ended)["snapshot_id"]]]);
  },
  60_000,
);

test("check prints the commands that make it content with older snapshots that lack a file, and tells of changes before a restart", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  const run = async (...more: readonly string[]): Promise<string> =>
    String(lastJson(await sync(["run", ...more, "--json", ...against(simulator)], { cwd }))["snapshot_id"]);
  const older = [await run(), await run()];
  await run("--over-damaged");
  const changes = layout(ACCOUNT).changesPart("0000000001", older[0] ?? "", 0);
  for (const key of [...older.map((id) => layout(ACCOUNT).part(id, 0)), changes])
    await rm(join(cwd, "warehouse", key));

  const missing = await sync(["check", ...against(simulator)], { cwd });
  const commands = printedCommands(missing.stdout).filter(([command]) => command === "retire");
  for (const command of commands) expect(await sync(command, { cwd })).toMatchObject({ exitCode: 0 });
  const content = await sync(["check", ...against(simulator)], { cwd });

  expect(missing.exitCode).toBe(1);
  expect(commands.map(([, snapshotId]) => snapshotId)).toEqual(older);
  expect(content.exitCode).toBe(0);
  expect(content.stdout).toMatch(
    new RegExp(`ok {6}snapshot {2}Damaged, but before the last restart, so it counts no more: ${changes}\\.`),
  );
}, 60_000);
