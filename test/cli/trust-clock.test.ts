// A head in the future, as a person at the command line meets it: the command to paste, and what follows it.

import { expect, test } from "vitest";
import { httpServer } from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { realClock, settableClock } from "../simulator/clocks.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, printedCommand, sync, writeCredentials } from "./command-line.ts";

const DAY_MS = 24 * 60 * 60_000;

test("a run is told as failed with the command to paste, after which run, check and status are content", async () => {
  const cwd = await temporaryDirectory();
  const bodies: string[] = [];
  await using hook = await httpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.end();
  });
  await using simulator = await Simulator.start({ events: makeEvents(5) });
  await writeCredentials(cwd, simulator);
  const clock = settableClock(realClock());
  clock.set(10 * DAY_MS);
  await sync(["run", ...against(simulator), "--trust-clock"], { cwd, clock });
  const args = [...against(simulator), "--max-missing", "3"];

  const failed = await sync(["run", ...args, "--notify-url", hook.url], { cwd });
  const checked = await sync(["check", ...against(simulator)], { cwd });
  const pasted = await sync(printedCommand(failed.stderr, "run"), { cwd });
  const later = await sync(["run", ...args], { cwd });
  const content = await sync(["check", ...against(simulator)], { cwd });
  const status = await sync(["status", "--max-age", "1"], { cwd });

  expect(failed.stderr).toContain("CLOCK_WRONG: This computer's clock shows");
  expect(failed.stderr).toMatch(/run --trust-clock .*--max-missing 3`/);
  const { "detail-type": type, text } = JSON.parse(bodies[0] ?? "");
  expect(type).toBe("Run Failed");
  expect(text).toMatch(/publish what the service has now: `npm run sync -- run --trust-clock [^`]*`\./);
  expect(checked.stdout).toMatch(/^FAILED {2}clock {2}CLOCK_WRONG: .* run --trust-clock /m);
  const codes = [failed, checked, pasted, later, content, status].map(({ exitCode }) => exitCode);
  expect(codes).toEqual([1, 1, 0, 0, 0, 0]);
});

test("every command that sees it warns that the clocks differ", async () => {
  const cwd = await temporaryDirectory();
  const clock = settableClock(realClock());
  clock.set(3 * 60 * 60_000);
  await using simulator = await Simulator.start({ events: makeEvents(5), clock });
  await writeCredentials(cwd, simulator);

  const ended = [];
  for (const command of ["check", "discover", "run", "verify"])
    ended.push(await sync([command, ...against(simulator)], { cwd }));

  for (const { exitCode, stderr } of ended) {
    expect(stderr.match(/This computer's clock shows .*, and the service's /g)).toHaveLength(1);
    expect(exitCode).toBe(0);
  }
});
