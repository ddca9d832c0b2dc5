// Typing errors in the place of a warehouse or the name of an account are refused: they must not look like empty data.

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, sync, writeCredentials } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];

test("query of a warehouse that does not exist exits with 2 and makes nothing", async () => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["query", "SELECT 1", "--warehouse", "./wharehouse"], { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain(`There is no warehouse at ${join(cwd, "wharehouse")}. Check --warehouse`);
  expect(await readdir(cwd)).toEqual([]);
});

test("status of an account that does not exist exits with 2 and lists the accounts that do", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);
  for (const account of ["uk", "de", "de-2"]) {
    await sync(["run", "--account", account, ...against(simulator)], { cwd });
  }

  const ended = await sync(["status", "--account", "nosuch"], { cwd });

  expect(ended).toMatchObject({ exitCode: 2, stdout: "" });
  expect(ended.stderr).toContain("The warehouse has no account nosuch. Its accounts are: de, de-2, uk.");
});

test.each(["gs://bucket/events", "gs:/bucket", "abfss://x@y/z", "https://service.example", "", " "])(
  "the warehouse %j is refused as no directory and no bucket of S3",
  async (warehouse) => {
    const cwd = await temporaryDirectory();

    const ended = await sync(["run", ...LOOPBACK, "--warehouse", warehouse], { cwd });

    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain(
      "--warehouse: expected a directory, or s3://bucket/prefix, and no other URL",
    );
    expect(await readdir(cwd)).toEqual([]);
  },
);

test("a credentials file that does not exist is named with its absolute path", async () => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["run", ...LOOPBACK, "--credentials", "./secrets/uk.json"], { cwd });

  expect(ended.exitCode).toBe(2);
  expect(ended.stderr).toContain(`The credentials file ${join(cwd, "secrets/uk.json")} does not exist`);
});

test("a base URL with a pasted endpoint works", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(3) });
  await writeCredentials(cwd, simulator);

  const ended = await sync(["check", "--base-url", `${simulator.url}/v1/events`], { cwd });

  expect(ended.exitCode).toBe(0);
});
