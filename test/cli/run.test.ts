// What a run of the command line stops at, and what a person does then: a refused password, a clock that is wrong, a field
// that is required, a limit of growth.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";

import { realClock, settableClock } from "../simulator/clocks.ts";
import { customEvent, makeEvents } from "../simulator/simulated-event.ts";
import { against, laptop, lastJson, printedCommand, sync } from "./command-line.ts";

async function refused() {
  const world = await laptop({ events: makeEvents(3) });
  const { cwd, simulator } = world;
  const file = join(cwd, "credentials.json");
  const right = await readFile(file, "utf8");
  const wrong = right.replace(simulator.credentials.password, "not-the-password");
  await writeFile(file, wrong);
  const start = (name: string, input: { text?: string; isTTY?: true } = {}) => {
    const stdin = Object.assign(Readable.from(input.text === undefined ? [] : [input.text]), {
      isTTY: input.isTTY,
    });
    const from = input.text === undefined ? [] : ["--credentials", "-"];
    return sync([name, "--json", ...from, ...against(simulator)], { cwd, stdin });
  };
  const logins = (): number => simulator.counts.logins;
  const first = await start("run");
  expect([first.exitCode, logins()]).toEqual([1, 1]);
  return { ...world, file, wrong, right, start, logins };
}

// When it is sent again: `test/job/run/login/login-refusal.test.ts`.
test("a schedule does not send it again; a person, a check and a schedule with a changed file do", async () => {
  const world = await refused();
  const { start, logins, warehouse } = world;

  const again = await start("run");
  const withheld = logins();
  const note = await readFile(join(warehouse, "accounts", "default", "login-refused.json"), "utf8");
  const person = await start("run", { isTTY: true });
  const check = await start("check");
  await writeFile(world.file, world.wrong.replace("not-the", "never-the"));
  const changed = await start("run");

  expect([again, person, check, changed].map(({ exitCode }) => exitCode)).toEqual([4, 1, 1, 1]);
  expect(lastJson(again)).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED", logins: null });
  expect([withheld, logins()]).toEqual([1, 4]);
  expect(JSON.parse(note)).toEqual({
    code: "LOGIN_REFUSED",
    refused_at: expect.any(String),
    credentials_version: expect.stringMatching(/^\d+-\d+-\d+$/),
  });
});

test("credentials from standard input are not remembered", async () => {
  const world = await refused();

  const ends = [
    await world.start("run", { text: world.wrong }),
    await world.start("run", { text: world.wrong }),
    await world.start("run", { text: world.right }),
  ];

  expect(ends.map(({ exitCode }) => exitCode)).toEqual([1, 1, 0]);
});

const DAY_MS = 24 * 60 * 60_000;

test("after a run under a clock that was ahead, which says so at its end, run, check and status are content", async () => {
  const { cwd, simulator, command, ask } = await laptop({ events: makeEvents(5) });
  const clock = settableClock(realClock());
  clock.set(10 * DAY_MS);

  const ahead = await sync(["run", ...against(simulator)], { cwd, clock });
  const old = await command("status", "--max-age", "1");
  const later = await ask("run");
  const checked = await ask("check");
  const status = await command("status", "--max-age", "1");

  expect(ahead.stdout).toMatch(/^ {2}.*This computer's clock shows .*, and the service's .*/m);
  const codes = [ahead, old, later, checked, status].map(({ exitCode }) => exitCode);
  expect(codes).toEqual([0, 5, 0, 0, 0]);
});

test("every command that sees it warns that the clocks differ", async () => {
  const clock = settableClock(realClock());
  clock.set(3 * 60 * 60_000);
  const world = await laptop({ events: makeEvents(5), clock });

  for (const name of ["run", "check", "discover"]) {
    const { exitCode, stderr } = await world.ask(name);

    expect(stderr.match(/This computer's clock shows .*, and the service's /g)).toHaveLength(1);
    expect(exitCode).toBe(0);
  }
});

test("a dry run names the events that differ from what readers see, and leaves them what they see", async () => {
  const world = await laptop();
  const { simulator, command, ask, snapshot } = world;
  await snapshot(12);
  const [changed, gone] = simulator.listed();
  if (!changed || !gone) throw new Error("too few events");
  simulator.change(changed.uuid, { source: `{"uuid":"${changed.uuid}"}` });

  const json = await ask("run", "--dry-run", "--json");
  simulator.vanish(gone.uuid);
  const shown = await ask("run", "--dry-run", "--max-missing", "50");
  const status = await command("status");

  expect(shown.exitCode).toBe(0);
  expect(shown.stdout).toContain("\n  0 added, 1 changed, 1 removed\n");
  expect(shown.stdout).toMatch(/^uuid +change +fields +reason$/m);
  expect(shown.stdout).toMatch(new RegExp(`^${changed.uuid} +changed +\\[".*`, "m"));
  expect(shown.stdout).toMatch(new RegExp(`^${gone.uuid} +removed +NULL +gone$`, "m"));
  const row = { uuid: changed.uuid, change: "changed", fields: expect.any(Array), reason: null };
  expect(lastJson(json)).toMatchObject({ outcome: "DRY_RUN", rows: [row] });
  expect(status.stdout).toContain("readers see  12 events");
});

const events = (count: number) =>
  Array.from({ length: count }, (_, n) => customEvent(`e${n}`, `"date":null,"n":${n}`));

test.each([
  { where: "options", args: ["--require", "/n", "--require", "/date"], env: {}, file: {} },
  { where: "a variable", args: [], env: { BRAND_REQUIRE: '["/n","/date"]' }, file: {} },
  { where: "the settings file", args: [], env: {}, file: { require: ["/n", "/date"] } },
])("fields that $where require hold a snapshot, and accept publishes it", async ({ args, env, file }) => {
  const { cwd, simulator, command } = await laptop({ events: events(6) });
  await writeFile(join(cwd, "brand-events.json"), JSON.stringify({ ...file, accounts: { default: {} } }));

  const held = await sync(["run", "--json", ...args, ...against(simulator)], { cwd, env });
  const status = await command("status");
  const accepted = await command(...printedCommand(status.stdout, "accept"));

  expect(held.exitCode).toBe(3);
  expect(lastJson(held)).toMatchObject({ outcome: "HELD", reason: "REQUIRED" });
  expect(status.stdout).toContain("6 of 6 events lack a required field: /date in 6.");
  expect(accepted.stdout).toContain("PUBLISHED");
});

test("a limit of growth holds a snapshot that has grown by more", async () => {
  const world = await laptop({ events: events(6) });
  await world.ask("run");
  world.simulator.setEvents(events(10));

  const held = await world.ask("run", "--max-growth", "66.6");
  const published = await world.ask("run", "--max-growth", "66.7");

  expect([held.exitCode, published.exitCode]).toEqual([3, 0]);
  expect(held.stdout).toContain(
    "10 events are 66.7 % more than the 6 that readers see now; the limit is 66.6 %.",
  );
});
