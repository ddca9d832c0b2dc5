// What a run tells people by --notify-url, how often it tries, and that it changes neither the result nor the exit code.

import { rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NOTIFY_OPTIONS, RUN_OPTIONS, SERVICE_OPTIONS } from "../../../bin/cli/options/options.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { styleHere } from "../../../bin/cli/output/next-command.ts";
import { notify } from "../../../bin/cli/output/notify.ts";
import { addRestart, damaged, RESTORE, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import { heldCommands, nextOf } from "../../../lambdas/words/ends.ts";
import { inTimeEnough } from "../../job/runtime/time-enough.ts";
import { httpServer, type LocalServer, proxyServer, rawServer } from "../../job/service/http/local-server.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { FAILED, HELD, PREVIEW, PUBLISHED, SKIPPED } from "../../sync/rows.ts";
import { laptop, lastJson, sync } from "../command-line.ts";

const SECRET_PATH = "/services/T0CANARY/B0?sig=CANARY";
const HELD_RESULT: RunResult = { row: HELD, explanation: "Only 6 of 12 <events> & more", preview: PREVIEW };
const NOTHING = { http: undefined, https: undefined, none: undefined };

interface Given {
  readonly url: string;
  readonly options?: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly proxies?: typeof NOTHING | { http: string; https: string; none: undefined };
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** What the terminal says; the clock moves on by itself. */
async function told(given: Given, result: RunResult): Promise<{ text: string; waitedMs: number }> {
  const { url, options = {}, proxies = NOTHING, signal = new AbortController().signal } = given;
  let text = "";
  let waitedMs = 0;
  const names = [
    ...SERVICE_OPTIONS,
    ...RUN_OPTIONS,
    ...NOTIFY_OPTIONS,
    "overDamaged" as const,
    "dryRun" as const,
  ];
  const address = { baseUrl: "https://service.example", account: "uk" };
  const onCommandLine = { ...address, notifyUrl: `${url}${SECRET_PATH}`, ...options };
  const values = new GivenOptions(onCommandLine, {}, "/srv").read(names);
  const event = runEvent("uk", result, "0000000007", (id) => heldCommands(id, styleHere(values)));
  await notify(async () => ({ event, next: nextOf(result) }), {
    values,
    stderr: {
      message: (line) => {
        text += `${line}\n`;
      },
    },
    proxies,
    signal,
    clock: {
      now: () => Date.parse("2026-11-21T08:00:00.000Z"),
      sleep: async (ms) => {
        waitedMs += ms;
      },
    },
    random: { next: () => 0.5, token: () => "t" },
    ...(given.timeoutMs === undefined ? {} : { timeoutMs: given.timeoutMs }),
  });
  return { text, waitedMs };
}

interface Receiver extends LocalServer {
  readonly bodies: readonly Readonly<Record<string, unknown>>[];
}

/** Keeps each body, and answers with these statuses in turn; the last one stays. */
async function receiver(
  statuses: readonly number[] = [200],
  headers: Readonly<Record<string, string>> = {},
): Promise<Receiver> {
  const bodies: Record<string, unknown>[] = [];
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const status = statuses[bodies.length] ?? statuses.at(-1) ?? 200;
    const { method, url } = request;
    const type = request.headers["content-type"];
    bodies.push({ method, url, type, ...JSON.parse(Buffer.concat(chunks).toString()) });
    response.writeHead(status, headers).end("CANARY of the server");
  };
  return Object.assign(await httpServer(listener), { bodies });
}

const host = (server: LocalServer): string => new URL(server.url).host;

const PLACE = "2026-11-21T06-00-00.000Z --account uk --warehouse /srv/warehouse";

test("a held run posts the event of the bus and a sentence with the command that publishes it", async () => {
  await using server = await receiver();

  const { text } = await told({ url: server.url }, HELD_RESULT);

  expect(server.bodies).toEqual([
    {
      method: "POST",
      url: SECRET_PATH,
      type: "application/json",
      "detail-type": "Snapshot Held",
      // The event itself: `test/job/run/record/run-event.test.ts`.
      detail: expect.objectContaining({
        account: "uk",
        ...PREVIEW,
        accept_command: `npm run sync -- accept ${PLACE}`,
        diff_command: `npm run sync -- diff ${PLACE}`,
      }),
      text: `brand-events-sync, account uk: held (DROPPED). Only 6 of 12 &lt;events&gt; &amp; more. Readers see data of 26 h 0 min ago. Compare: \`npm run sync -- diff ${PLACE}\`. Publish (0 added, 12 changed, 412 removed): \`npm run sync -- accept ${PLACE}\`. Or wait: The next run makes and judges another one. Host: ${hostname()}.`,
    },
  ]);
  expect(text).toBe(`The notification is delivered to ${host(server)}.\n`);
});

const PLACES =
  "--account uk --warehouse /srv/warehouse --base-url https://service.example/ --credentials /srv/credentials.json";

test.each([
  {
    code: "LOGIN_REFUSED",
    text: `the run ${FAILED.run_id} failed with LOGIN_REFUSED. Readers keep what they have. What happened. Then start again: \`npm run sync -- run ${PLACES} --lift brand=/brand/name\`. Where: /srv/warehouse on host ${hostname()}.`,
  },
  {
    code: "SERVICE_UNAVAILABLE",
    text: `To resume it: \`npm run sync -- run ${PLACES} --lift brand=/brand/name\`.`,
  },
  {
    code: "STORE_FAILED",
    of: { overDamaged: true },
    text: `To resume it: \`npm run sync -- run --over-damaged ${PLACES} --lift brand=/brand/name\`.`,
  },
  {
    code: "SERVICE_UNAVAILABLE",
    of: { dryRun: true },
    text: `Then try again: \`npm run sync -- run --dry-run ${PLACES} --lift brand=/brand/name\`.`,
  },
  {
    code: "AUTHORIZATION_EXPIRED",
    of: { authUrl: "https://id.example" },
    text: "To authorize again: `npm run sync -- authorize",
  },
] as const)(
  "a run that failed with $code, with $of, posts the command that helps",
  async ({ code, of, text }) => {
    await using server = await receiver();
    const error = new SyncError(code, "What\n happened");
    const row = { ...FAILED, trigger: "manual", error_code: code, error_message: error.message } as const;

    await told({ url: server.url, options: { lift: ["brand=/brand/name"], ...of } }, { row, error });

    expect(server.bodies).toEqual([
      expect.objectContaining({ "detail-type": "Run Failed", text: expect.stringContaining(text) }),
    ]);
  },
);

test("a run that failed because of damage posts the whole command that restarts", async () => {
  await using server = await receiver();
  const error = addRestart(damaged("snapshots/uk/s/a", "it is cut", RESTORE));
  if (!(error instanceof SyncError)) throw error;
  const row = { ...FAILED, trigger: "manual", error_code: error.code, error_message: error.message } as const;

  await told({ url: server.url, options: { lift: ["brand=/brand/name"] } }, { row, error });

  const command = `npm run sync -- run --over-damaged ${PLACES} --lift brand=/brand/name`;
  const text = `Or restart over the damage; then all events count as added: \`${command}\`. Then start again:`;
  expect(server.bodies).toEqual([expect.objectContaining({ text: expect.stringContaining(text) })]);
});

test("a publication is posted where --notify-on names it, with its number and its counts", async () => {
  await using server = await receiver();

  const options = { notifyOn: "published", notifyLink: "https://wiki.example/runbook?a=1&b=2" };
  await told({ url: server.url, options }, { row: PUBLISHED });

  expect(server.bodies).toEqual([
    expect.objectContaining({
      "detail-type": "Snapshot Published",
      detail: expect.objectContaining({ publication: "0000000007", added: 3 }),
      text: `brand-events-sync, account uk: readers see a new snapshot, 2026-11-21T06-00-00.000Z. Events: 1000; 3 added, 2 changed, 1 removed. To see what readers have: \`npm run sync -- status --account uk --warehouse /srv/warehouse\`. Where: /srv/warehouse on host ${hostname()}. More: https://wiki.example/runbook?a=1&amp;b=2`,
    }),
  ]);
});

test("a publication that is a restart says so", async () => {
  await using server = await receiver();

  const explanation = "restart: all 1,000 events count as added. A reader begins again.";
  await told({ url: server.url, options: { notifyOn: "published" } }, { row: PUBLISHED, explanation });

  expect(server.bodies[0]?.["text"]).toContain(
    "1 removed. restart: all 1,000 events count as added. A reader begins again. To see",
  );
});

const STOPPED = AbortSignal.abort(new Error("stopped"));

test.each([
  { what: "a publication", result: { row: PUBLISHED }, given: {} },
  {
    what: "a held run without held in --notify-on",
    result: HELD_RESULT,
    given: { options: { notifyOn: "failed" } },
  },
  {
    what: "a skipped run",
    result: { row: SKIPPED },
    given: { options: { notifyOn: "published,held,failed" } },
  },
  { what: "a run that a person has stopped", result: HELD_RESULT, given: { signal: STOPPED } },
])("nothing is posted and nothing is said for $what", async ({ result, given }) => {
  await using server = await receiver();

  const { text } = await told({ url: server.url, ...given }, result);

  expect([server.connections, text]).toEqual([0, ""]);
});

test.each([
  { what: "a full answer", statuses: [500, 200], posts: 2, says: "is delivered to" },
  { what: "an overloaded server", statuses: [503], posts: 3, says: "status 503, after 3 attempts" },
  { what: "a wrong address", statuses: [404], posts: 1, says: "status 404. The run itself" },
  { what: "a login page", statuses: [401], posts: 1, says: "status 401." },
])("$what ($statuses) gets $posts attempts", async ({ statuses, posts, says }) => {
  await using server = await receiver(statuses);

  const { text, waitedMs } = await told({ url: server.url }, HELD_RESULT);

  expect(server.bodies).toHaveLength(posts);
  expect(text).toContain(says);
  expect(waitedMs).toBe([0, 500, 1_500][posts - 1]);
  expect(text).not.toContain("CANARY");
});

test.each([
  { seconds: "20", posts: 3, waitedMs: 40_000 },
  { seconds: "31", posts: 1, waitedMs: 0 },
])(
  "a Retry-After of $seconds s is obeyed, and waited for up to 30 s",
  async ({ seconds, posts, waitedMs }) => {
    await using server = await receiver([429], { "retry-after": seconds });

    const ended = await told({ url: server.url }, HELD_RESULT);

    expect([server.bodies.length, ended.waitedMs]).toEqual([posts, waitedMs]);
  },
);

test.each([301, 302, 303, 307, 308])("a redirect (%i) is told and not followed", async (status) => {
  await using target = await receiver();
  await using server = await receiver([status], { location: `${target.url}/CANARY` });

  const { text } = await told({ url: server.url }, HELD_RESULT);

  expect([server.bodies.length, target.connections]).toEqual([1, 0]);
  expect(text).toContain(
    `not delivered to ${host(server)}: the answer was status ${status}, a redirect to ${host(target)}, which is not followed`,
  );
  expect(text).not.toContain("CANARY");
});

test.each([
  {
    what: "never answers",
    start: () => rawServer(() => undefined),
    timeoutMs: 40,
    says: "there was no answer (TIMED_OUT), after 3 attempts",
  },
  {
    what: "breaks the connection",
    start: () => rawServer((socket) => socket.destroy()),
    says: "there was no answer",
  },
  {
    what: "gives an answer that is not valid HTTP",
    start: () => rawServer((socket) => socket.end("HTTP/1.1 200 OK\r\nCANARY x: y\r\n\r\n")),
    says: "the answer was a response that is not valid HTTP (INVALID_HTTP: Invalid header token), after 3 attempts",
  },
])("a server that $what gets three attempts, each with its time limit", async ({ start, says, ...given }) => {
  await using server = await start();

  const { text } = await told({ url: server.url, ...given }, HELD_RESULT);

  await expect.poll(() => server.connections).toBe(3);
  expect(text).toContain(`is not delivered to ${host(server)}: ${says}`);
  expect(text).not.toContain("CANARY");
});

test("a server that answers and then hangs has got the notification", async () => {
  await using server = await httpServer((_, response) => void response.writeHead(200).write("o"));

  const said = await inTimeEnough(100, async (timeoutMs) => {
    const { text } = await told({ url: server.url, timeoutMs }, HELD_RESULT);
    return text.includes("TIMED_OUT") ? undefined : text;
  });

  expect(said).toContain("is delivered");
});

test("the notification goes through the proxy of the environment, which the message names", async () => {
  await using proxy = await proxyServer(403);
  const proxies = { http: proxy.url, https: proxy.url, none: undefined };

  const { text } = await told({ url: "https://hooks.test", proxies }, HELD_RESULT);

  expect(proxy.requests).toEqual(Array(3).fill("CONNECT hooks.test:443"));
  expect(text).toContain(
    `not delivered to hooks.test: there was no answer through the proxy ${proxy.url} (PROXY_STATUS_403)`,
  );
});

test("an unusable proxy is told, and throws nothing", async () => {
  const proxies = { http: "socks5://x", https: "socks5://x", none: undefined };

  const { text } = await told({ url: "https://hooks.test", proxies }, HELD_RESULT);

  expect(text).toContain("not delivered to hooks.test: CONFIG_INVALID: The environment variable HTTPS_PROXY");
});

test("a stop while the server is slow ends the wait at once", async () => {
  const stop = new AbortController();
  await using server = await httpServer(() => stop.abort(new Error("stopped")));

  const { text } = await told({ url: server.url, signal: stop.signal }, HELD_RESULT);

  expect(text).toContain("the program was stopped");
});

test.each([
  { answer: 200, says: "is delivered to 127.0.0.1" },
  { answer: 404, says: "is not delivered to 127.0.0.1" },
])(
  "each outcome of a run is told without a secret or an event, and an answer with $answer changes no exit code and no line of JSON",
  async ({ answer, says }) => {
    await using hook = await receiver([answer]);
    const world = await laptop({ events: makeEvents(12) });
    const run = (...args: readonly string[]) =>
      world.ask(
        "run",
        "--notify-url",
        hook.url + SECRET_PATH,
        "--notify-on",
        "published,held,failed",
        ...args,
      );

    const published = await run();
    world.simulator.setEvents(makeEvents(6));
    const held = await run("--json");
    await rm(join(world.cwd, "credentials.json"));
    const failed = await run("--json");

    expect([published, held, failed].map(({ exitCode }) => exitCode)).toEqual([0, 3, 2]);
    expect([held, failed].map((ended) => lastJson(ended)["outcome"])).toEqual(["HELD", "FAILED"]);
    expect(hook.bodies).toMatchObject([
      { "detail-type": "Snapshot Published" },
      { "detail-type": "Snapshot Held" },
      {
        "detail-type": "Run Failed",
        detail: { account: "default", run_id: null, error_code: "CREDENTIALS_INVALID", finished: true },
      },
    ]);
    for (const { stdout, stderr } of [published, held, failed]) {
      expect(stderr).toContain(says);
      expect(stdout + stderr).not.toContain("CANARY");
    }
    const { email, password } = world.simulator.credentials;
    const said = hook.bodies.map(({ url: _, ...body }) => JSON.stringify(body).toLowerCase());
    const secrets = [email, password, SECRET_PATH].map((each) => each.toLowerCase());
    expect(secrets.filter((secret) => said.join().includes(secret))).toEqual([]);
    // What is held is described by its first uuids.
    expect(makeEvents(12).filter(({ uuid }) => said[0]?.includes(uuid))).toEqual([]);
  },
);

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
