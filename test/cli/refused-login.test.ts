// A schedule of this computer sends a refused password once a day, until its file changes or a check has worked.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, sync, writeCredentials } from "./command-line.ts";

async function refused() {
  const cwd = await temporaryDirectory();
  const simulator = await Simulator.start({ events: makeEvents(3) });
  const { email, password } = simulator.credentials;
  const file = await writeCredentials(cwd, simulator);
  const right = await readFile(file, "utf8");
  const wrong = JSON.stringify({ method: "session", email, password: "not-the-password" });
  await writeFile(file, wrong);
  const command = (name: string, input: { text?: string; isTTY?: true } = {}) => {
    const stdin = Object.assign(Readable.from(input.text === undefined ? [] : [input.text]), {
      isTTY: input.isTTY,
    });
    const from = input.text === undefined ? [] : ["--credentials", "-"];
    return sync([name, "--json", ...from, ...against(simulator)], { cwd, stdin });
  };
  const logins = (): number => simulator.counts.logins;
  const first = await command("run");
  expect([first.exitCode, logins()]).toEqual([1, 1]);
  return { cwd, file, wrong, right, password, simulator, command, logins };
}

test("a schedule does not send it again, and says until when; nothing of it is stored", async () => {
  const world = await refused();
  await using _ = world.simulator;

  const again = await world.command("run");

  expect(again.exitCode).toBe(4);
  expect(lastJson(again)).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED", logins: null });
  expect(world.logins()).toBe(1);
  const note = await readFile(
    join(world.cwd, "warehouse", "accounts", "default", "login-refused.json"),
    "utf8",
  );
  expect(JSON.parse(note)).toEqual({
    code: "LOGIN_REFUSED",
    refused_at: expect.any(String),
    credentials_version: expect.stringMatching(/^\d+-\d+-\d+$/),
  });
});

test("a changed file is tried, and so is a run or a check of a person", async () => {
  const world = await refused();
  await using _ = world.simulator;

  const person = await world.command("run", { isTTY: true });
  const check = await world.command("check");
  await writeFile(world.file, world.wrong.replace("not-the", "never-the"));
  const changed = await world.command("run");

  expect([person, check, changed].map(({ exitCode }) => exitCode)).toEqual([1, 1, 1]);
  expect(world.logins()).toBe(4);
});

test("a check that works ends it, for the same file", async () => {
  const world = await refused();
  await using _ = world.simulator;
  // The service knows the password now.
  world.simulator.configure({ account: { ...world.simulator.credentials, password: "not-the-password" } });

  const [withheld, check, run] = [
    await world.command("run"),
    await world.command("check"),
    await world.command("run"),
  ];

  expect([withheld, check, run].map(({ exitCode }) => exitCode)).toEqual([4, 0, 0]);
});

test("credentials from standard input are not remembered", async () => {
  const world = await refused();
  await using _ = world.simulator;

  const ends = [
    await world.command("run", { text: world.wrong }),
    await world.command("run", { text: world.wrong }),
    await world.command("run", { text: world.right }),
  ];

  expect(ends.map(({ exitCode }) => exitCode)).toEqual([1, 1, 0]);
});
