// A schedule of this computer sends a refused password once a day, until its file changes or a check has worked.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { makeEvents } from "../simulator/simulated-event.ts";
import { against, laptop, lastJson, sync } from "./command-line.ts";

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
  await using world = await refused();
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
  await using world = await refused();

  const ends = [
    await world.start("run", { text: world.wrong }),
    await world.start("run", { text: world.wrong }),
    await world.start("run", { text: world.right }),
  ];

  expect(ends.map(({ exitCode }) => exitCode)).toEqual([1, 1, 0]);
});
