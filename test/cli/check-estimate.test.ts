// `check` says beside the list how long a run will take: no run has to be started to find out.

import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { sync, writeCredentials } from "./command-line.ts";

test("check says how many events there are and how long a run of them takes", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(40) });
  await writeCredentials(cwd, simulator);
  const limits = ["--requests-per-minute", "20", "--bytes-per-minute", "unlimited"];

  const { exitCode, stdout } = await sync(["check", "--base-url", simulator.url, ...limits], { cwd });

  expect(stdout).toContain("ok      list  40 events, about 2 min\n");
  expect(exitCode).toBe(0);
});
