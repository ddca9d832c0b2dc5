// Whatever command the program prints can be pasted into a shell as it is.

import { rename } from "node:fs/promises";
import { expect, test } from "vitest";
import { customEvent } from "../job/run/custom-event.ts";
import { httpServer } from "../job/service/http/local-server.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, type Ended, printedCommand, shellWords, sync, writeCredentials } from "./command-line.ts";

test.each([
  { where: "the default place", place: [] },
  { where: "a named account", place: ["--account", "uk"] },
  { where: "a folder with a quote and a dollar", place: ["--warehouse", "our team's $data"] },
])("the commands of a held run and of status work as they are: $where", async ({ place }) => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...place, ...against(simulator)], { cwd });
  simulator.setEvents(makeEvents(6));

  const held = await sync(["run", ...place, ...against(simulator)], { cwd });
  const status = await sync(["status", ...place], { cwd });
  const ended: Ended[] = [];
  for (const { stdout } of [held, status]) {
    ended.push(await sync(printedCommand(stdout, "accept"), { cwd }));
  }

  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(ended[0]?.stdout).toContain("PUBLISHED");
});

test("the columns that discover suggests, and those that a refused run names, work as they are", async () => {
  const cwd = await temporaryDirectory();
  await using simulator = await Simulator.start({
    events: [customEvent("x", `"it's":"x","$(touch pwned)":1,"two words":2`)],
  });
  await writeCredentials(cwd, simulator);

  const discovered = await sync(["discover", ...against(simulator)], { cwd });
  const [, suggested = ""] = /without the options:\n([\s\S]*)/.exec(discovered.stdout) ?? [];
  const first = await sync(["run", ...shellWords(suggested), ...against(simulator)], { cwd });
  const again = await sync(["discover", ...against(simulator)], { cwd });
  const refused = await sync(["run", "--lift", "other=/other", ...against(simulator)], { cwd });
  const [, named = ""] = /Give (--lift .*) first, in this order/.exec(refused.stderr) ?? [];
  const second = await sync(["run", ...shellWords(named), ...against(simulator)], { cwd });

  expect(shellWords(suggested)).toHaveLength(6);
  expect(again.stdout).toContain("No other field that half of them have");
  expect([first, refused, second].map(({ exitCode }) => exitCode)).toEqual([0, 2, 0]);
});

test("every command of a notification works as it is", async () => {
  const cwd = await temporaryDirectory();
  const texts: string[] = [];
  await using hook = await httpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    texts.push(String(JSON.parse(body).text));
    response.end();
  });
  await using simulator = await Simulator.start({ events: makeEvents(12) });
  const file = await writeCredentials(cwd, simulator);
  const args = ["run", ...against(simulator), "--notify-url", hook.url, "--warehouse", "our team's $data"];
  const all = ["--notify-on", "published,held,failed"];

  await sync([...args, ...all], { cwd });
  simulator.setEvents(makeEvents(6));
  await sync([...args, ...all], { cwd });
  await rename(file, `${file}.away`);
  await sync([...args, ...all], { cwd });
  await rename(`${file}.away`, file);
  const commands = texts.map((text) => /`npm run sync -- (.*)`$/.exec(text)?.[1] ?? "");
  const ended: Ended[] = [];
  for (const command of commands) ended.push(await sync(shellWords(command), { cwd }));

  expect(commands.map((command) => command.split(" ")[0])).toEqual(["status", "accept", "check"]);
  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
});
