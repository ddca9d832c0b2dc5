// A disk that is not there: its folder is empty, and looks like a new warehouse, or like one that has lost everything.

import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { against, atTerminal, type Laptop, laptop, sync } from "./command-line.ts";

const EVENTS = { events: makeEvents(3) };

/** A run that a person starts at a terminal. */
const byHand = ({ cwd, simulator }: Laptop, ...args: readonly string[]) =>
  sync(["run", ...against(simulator), ...args], { cwd, stdin: atTerminal() });

const filesIn = (folder: string): Promise<readonly string[]> => readdir(folder, { recursive: true });

describe("a run without a terminal that finds no warehouse", () => {
  test.each([
    ["an empty folder", "warehouse", async ({ warehouse }: Laptop) => mkdir(warehouse)],
    [
      "a folder with other files",
      "warehouse",
      async ({ warehouse }: Laptop) => {
        await mkdir(warehouse);
        await writeFile(join(warehouse, "lost+found"), "");
      },
    ],
    [
      "a folder whose publications are none",
      "warehouse",
      async ({ warehouse }: Laptop) => {
        await mkdir(join(warehouse, "publications", "default"), { recursive: true });
        await writeFile(join(warehouse, "publications", "README"), "");
      },
    ],
    [
      "a missing folder in an empty one",
      "disk/warehouse",
      async ({ cwd }: Laptop) => mkdir(join(cwd, "disk")),
    ],
    ["a missing folder in a missing one", "disk/warehouse", async () => undefined],
  ])("writes nothing into %s, and asks for the disk", async (_, place, make) => {
    const world = await laptop(EVENTS);
    await make(world);
    const before = await filesIn(world.cwd);

    const nightly = await world.ask("run", "--warehouse", place);
    const after = await filesIn(world.cwd);
    const first = await byHand(world, "--warehouse", place);
    const later = await world.ask("run", "--warehouse", place);

    expect(nightly.exitCode).toBe(1);
    expect(nightly.stderr).toContain(
      `STORE_FAILED: There is no warehouse in ${join(world.cwd, place)}: is the disk there? If it is to be a new one, start the first run by hand, or once with --fresh.`,
    );
    expect(after).toEqual(before);
    expect([first, later].map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  });

  test("makes a missing one in a folder that has something, which stays one also if the run fails", async () => {
    const world = await laptop(EVENTS);

    const failed = await world.ask("run", "--detail-pointer", "/nothing");
    const next = await world.ask("run");

    expect(failed.exitCode).toBe(1);
    expect(next.exitCode).toBe(0);
    expect(next.stdout).toContain("The publication is the first one here of the account default.");
  });

  test("makes one with --fresh, which does not belong into a schedule", async () => {
    const world = await laptop(EVENTS);
    await mkdir(world.warehouse);

    const first = await world.ask("run", "--fresh");
    const second = await world.ask("run", "--fresh");

    expect([first, second].map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(first.stderr).not.toContain("schedule");
    expect(second.stderr).toContain("--fresh does not belong into a schedule");
    expect(second.stdout).not.toContain("the first one here");
  });

  test.each([["check"], ["run", "--dry-run"]])(
    "is no hindrance to %s %s, which makes none",
    async (...args) => {
      const world = await laptop(EVENTS);
      await mkdir(world.warehouse);

      const { exitCode } = await world.ask(...args);

      expect(exitCode).toBe(0);
      expect(await readdir(world.warehouse)).not.toContain("columns.json");
    },
  );
});

describe("where no published snapshot of any account has a file", () => {
  async function withoutSnapshots(): Promise<Laptop & { readonly away: string; readonly first: string }> {
    const world = await laptop(EVENTS);
    const first = await world.snapshot(3);
    await world.snapshot(3);
    await world.snapshot(4, "--account", "uk");
    const away = join(world.cwd, "away");
    await rename(join(world.warehouse, "snapshots"), away);
    return { ...world, away, first };
  }

  test("it is no damage: the disk is not there, nothing is written, and a restart is refused", async () => {
    const world = await withoutSnapshots();
    const before = await filesIn(world.warehouse);

    const ended = [
      await world.ask("run"),
      await world.ask("run", "--over-damaged"),
      await world.ask("run", "--dry-run"),
      await world.ask("check"),
      await world.command("accept", "held"),
      await world.command("retire", world.first, "--yes"),
    ];

    for (const { exitCode, stderr } of ended) {
      expect(exitCode).toBe(1);
      expect(stderr).toContain("has any file: is the disk there?");
    }
    expect(await filesIn(world.warehouse)).toEqual(before);
    await rename(world.away, join(world.warehouse, "snapshots"));
    expect((await world.ask("run")).exitCode).toBe(0);
  });

  test("run --fresh --over-damaged begins again", async () => {
    const world = await withoutSnapshots();

    const { exitCode, stdout } = await world.ask("run", "--fresh", "--over-damaged");

    expect(exitCode).toBe(0);
    expect(stdout).toContain("restart: all 4 events count as added");
  });

  test("one account that has its files shows that the disk is there", async () => {
    const world = await laptop(EVENTS);
    await world.snapshot(3);
    await world.snapshot(3, "--account", "uk");
    await rm(join(world.warehouse, "snapshots", "default"), { recursive: true });

    const { stderr } = await world.ask("run");

    expect(stderr).toContain("STORE_CORRUPT");
  });

  test("another account that cannot be read ends no run", async () => {
    const world = await laptop(EVENTS);
    await world.snapshot(3);
    await mkdir(join(world.warehouse, "publications", "a", "0000000001.ndjson"), { recursive: true });

    const { exitCode } = await world.ask("run");

    expect(exitCode).toBe(0);
  });
});
