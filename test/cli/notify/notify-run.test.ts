// A run of the command line tells how it ended; whether that works changes neither its result nor its exit code.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { httpServer } from "../../job/service/http/local-server.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../../simulator/account.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { laptop, lastJson, sync } from "../command-line.ts";

const SECRET_PATH = "/services/T0CANARY/B0";

/** A receiver of notifications, what came to it, and the options that name it. */
async function webhook(status = 200) {
  const bodies: string[] = [];
  const server = await httpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    response.writeHead(status, { location: "https://elsewhere.example/CANARY" }).end();
  });
  return {
    bodies,
    options: ["--notify-url", `${server.url}${SECRET_PATH}`],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

test.each([
  { answer: 200, says: "is delivered to 127.0.0.1" },
  { answer: 404, says: "is not delivered to 127.0.0.1" },
])(
  "each outcome is told, and an answer with $answer changes no exit code and no line of JSON",
  async ({ answer, says }) => {
    await using hook = await webhook(answer);
    await using world = await laptop({ events: makeEvents(12) });
    const run = (...args: readonly string[]) =>
      world.ask("run", ...hook.options, "--notify-on", "published,held,failed", ...args);

    const published = await run();
    world.simulator.setEvents(makeEvents(6));
    const held = await run("--json");
    await rm(join(world.cwd, "credentials.json"));
    const failed = await run("--json");

    expect([published, held, failed].map(({ exitCode }) => exitCode)).toEqual([0, 3, 2]);
    expect([held, failed].map((ended) => lastJson(ended)["outcome"])).toEqual(["HELD", "FAILED"]);
    expect(hook.bodies.map((body) => JSON.parse(body)["detail-type"])).toEqual([
      "Snapshot Published",
      "Snapshot Held",
      "Run Failed",
    ]);
    expect(JSON.parse(hook.bodies[2] ?? "").detail).toMatchObject({
      account: "default",
      run_id: null,
      error_code: "CREDENTIALS_INVALID",
      finished: true,
    });
    for (const { stdout, stderr } of [published, held, failed]) {
      expect(stderr).toContain(says);
      expect(stdout + stderr).not.toContain("CANARY");
    }
    expect(hook.bodies.join().toLowerCase()).not.toContain(CANARY.password.toLowerCase());
  },
);

test("no notification holds an event, a secret or an e-mail address", async () => {
  await using hook = await webhook();
  await using world = await laptop({ events: makeEvents(12) });
  const { email, password } = world.simulator.credentials;
  const uuids = makeEvents(12).map(({ uuid }) => uuid);

  await world.ask("run", ...hook.options, "--notify-on", "published");

  expect(hook.bodies).toHaveLength(1);
  for (const secret of [email, password, SECRET_PATH, ...uuids]) {
    expect(hook.bodies[0]).not.toContain(secret);
  }
});

test.each([
  { args: ["--notify-url", "http://hooks.example/CANARY"], says: "expected an https: URL" },
  { args: ["--notify-url", "hooks.example/CANARY"], says: "expected an https: URL" },
  { args: ["--notify-url", "https://u:CANARY@hooks.example/"], says: "without a user name and password" },
  { args: ["--notify-url", "https://hooks.example/#CANARY"], says: "without a fragment" },
  {
    args: ["--notfy-url=https://hooks.example/CANARY"],
    says: "unknown option '--notfy-url=https://hooks.example/…'",
  },
  { args: ["https://hooks.example/CANARY"], says: "too many arguments" },
])("$args is refused ($says), and no URL is repeated", async ({ args, says }) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await sync(["run", "--json", ...args], { cwd });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
  expect(stdout + stderr).not.toContain("CANARY");
});
