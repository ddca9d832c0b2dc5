// A head in the future, as a person at the command line meets it: the command to paste, and what follows it.

import { expect, test } from "vitest";
import { httpServer } from "../job/service/http/local-server.ts";
import { realClock, settableClock } from "../simulator/clocks.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { against, laptop, printedCommand, sync } from "./command-line.ts";

const DAY_MS = 24 * 60 * 60_000;

test("a run is told as failed with the command to paste, after which run, check and status are content", async () => {
  const bodies: string[] = [];
  await using hook = await httpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.end();
  });
  await using world = await laptop({ events: makeEvents(5) });
  const { cwd, simulator, command, ask } = world;
  const clock = settableClock(realClock());
  clock.set(10 * DAY_MS);
  await sync(["run", ...against(simulator), "--trust-clock"], { cwd, clock });

  const failed = await ask("run", "--max-missing", "3", "--notify-url", hook.url);
  const checked = await ask("check");
  const pasted = await command(...printedCommand(failed.stderr, "run"));
  const later = await ask("run", "--max-missing", "3");
  const content = await ask("check");
  const status = await command("status", "--max-age", "1");

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
  const clock = settableClock(realClock());
  clock.set(3 * 60 * 60_000);
  await using world = await laptop({ events: makeEvents(5), clock });

  for (const name of ["check", "discover", "run", "verify"]) {
    const { exitCode, stderr } = await world.ask(name);

    expect(stderr.match(/This computer's clock shows .*, and the service's /g)).toHaveLength(1);
    expect(exitCode).toBe(0);
  }
});
