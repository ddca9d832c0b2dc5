import { once } from "node:events";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { authorizationRequest } from "../../../bin/cli/authorize/code-exchange.ts";
import { type OpenBrowser, receiveAnswer } from "../../../bin/cli/authorize/receive-answer.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";
import { ask, freeRedirectUri, NAVIGATION, type Visited } from "./around-authorize.ts";

interface Begun {
  readonly lines: readonly string[];
  readonly codes: readonly string[];
  readonly clock: ManualClock;
  readonly redirectUri: string;
  readonly state: string;
  readonly stop: () => void;
  /** The code of the error that the wait ended with; undefined: none. */
  readonly ended: Promise<string | undefined>;
  readonly get: (
    query: string,
    init?: { readonly path?: string; readonly headers?: object; readonly method?: string },
  ) => Promise<Visited>;
}

async function begin(
  options: {
    readonly exchange?: (code: string) => Promise<void>;
    readonly openBrowser?: OpenBrowser;
    readonly redirectUri?: string;
  } = {},
): Promise<Begun> {
  const redirectUri = options.redirectUri ?? (await freeRedirectUri());
  const request = authorizationRequest(new URL("https://login.example"), "c", redirectUri, systemRandom);
  const lines: string[] = [];
  const codes: string[] = [];
  const clock = new ManualClock(0);
  const stop = new AbortController();
  const ended = receiveAnswer(
    {
      request,
      openBrowser: options.openBrowser,
      terminal: { lines: (texts) => void lines.push(...texts) },
      clock,
      signal: stop.signal,
    },
    async (code) => {
      codes.push(code);
      await options.exchange?.(code);
    },
  ).then(
    () => undefined,
    (error: unknown) => (error instanceof SyncError ? error.code : String(error)),
  );
  await Promise.race([ended, expect.poll(() => lines.length, { interval: 1 }).toBeGreaterThan(0)]);
  const get: Begun["get"] = (query, { path, ...init } = {}) => {
    const url = new URL(redirectUri);
    return ask(`${url.origin}${path ?? url.pathname}${query}`, init);
  };
  return {
    lines,
    codes,
    clock,
    redirectUri,
    state: request.state,
    stop: () => stop.abort(),
    ended,
    get,
  };
}

/** What a browser does: it follows the redirect and shows the page. */
async function browse(
  { get, redirectUri }: Begun,
  query: string,
): Promise<{ location: string; page: string }> {
  const response = await get(query);
  const location = new URL(response.headers.location ?? "", redirectUri).href;
  expect(response.status).toBe(303);
  expect(response.headers["referrer-policy"]).toBe("no-referrer");
  expect(response.headers["cache-control"]).toBe("no-store");
  const page = await ask(location);
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  return { location, page: page.body };
}

/** The terminal has waited on, and takes the answer with its own state. */
async function takesOwn(begun: Begun): Promise<void> {
  await browse(begun, `?code=own&state=${begun.state}`);
  expect(await begun.ended).toBeUndefined();
  expect(begun.codes).toEqual(["own"]);
}

describe("the listener", () => {
  test("takes the code, and shows the page at an address without code and state", async () => {
    const begun = await begin();

    const { location, page } = await browse(begun, `?code=the-code&state=${begun.state}`);

    expect(location).toBe(`${begun.redirectUri}/done`);
    expect(page).toContain("<h1>Access is authorized</h1>");
    expect(page).toContain("You can close this page");
    expect(await begun.ended).toBeUndefined();
    expect(begun.codes).toEqual(["the-code"]);
    expect(begun.lines.join("\n")).not.toContain("the-code");
    await expect(begun.get("")).rejects.toThrow();
  });

  test.each([
    ["?error=access_denied&state=STATE", "AUTHORIZATION_EXPIRED", "The access was denied"],
    ["?error=unauthorized_client&state=STATE", "CREDENTIALS_INVALID", "Check client_id"],
  ])("given %s ends with %s, and the page says: %s", async (query, code, text) => {
    const begun = await begin();

    const { page } = await browse(begun, query.replace("STATE", begun.state));

    expect(page).toContain("<h1>Access is not authorized</h1>");
    expect(page).toContain(text);
    expect(page).toContain(`Code: ${code}.`);
    expect(await begun.ended).toBe(code);
    expect(begun.codes).toEqual([]);
  });

  test.each([
    ["another state", "?code=c&state=wrong"],
    ["another state, with an error", "?error=access_denied&state=wrong"],
    ["two states", "?code=c&state=STATE&state=STATE"],
  ])("tells of an answer with %s once, shows a page, and waits on", async (_, query) => {
    const begun = await begin();

    const answers = [1, 2].map(() => begun.get(query.replaceAll("STATE", begun.state)));

    for (const { status, body } of await Promise.all(answers)) {
      expect(status).toBe(403);
      expect(body).toContain("<h1>This is not the expected answer</h1>");
      expect(body).toContain("its state is another one");
    }
    const told = begun.lines.filter((line) => line.includes("does not belong to this authorization"));
    expect(told).toHaveLength(1);
    await takesOwn(begun);
  });

  test.each([
    ["a script", { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" }],
    ["an image", { "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }],
    ["a frame", { "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }],
    ["a page that is only prepared", { ...NAVIGATION, "sec-purpose": "prefetch;prerender" }],
  ])("refuses an answer from %s, even with the own state, tells it and waits on", async (_, headers) => {
    const begun = await begin();

    const refused = [
      await begun.get(`?code=c&state=${begun.state}`, { headers }),
      await begun.get("?code=c", { headers }),
    ];

    expect(refused.map(({ status }) => status)).toEqual([403, 403]);
    expect(begun.lines.filter((line) => line.includes("from inside another page"))).toHaveLength(1);
    await takesOwn(begun);
  });

  test.each([
    ["another site", NAVIGATION],
    ["an address that is typed", { ...NAVIGATION, "sec-fetch-site": "none" }],
    ["a browser without Fetch Metadata", {}],
  ])("takes an answer with the own state from %s", async (_, headers) => {
    const begun = await begin();

    expect((await begun.get(`?code=c&state=${begun.state}`, { headers })).status).toBe(303);

    await ask(`${begun.redirectUri}/done`);
    expect(await begun.ended).toBeUndefined();
    expect(begun.codes).toEqual(["c"]);
  });

  test.each(["?code=c", "?error=access_denied"])(
    "refuses %s without state, says once what to do, and waits on",
    async (query) => {
      const begun = await begin();

      const answers = [await begun.get(query), await begun.get(query)];

      expect(answers.map(({ status }) => status)).toEqual([403, 403]);
      const [first] = answers;
      expect(first?.body).toContain("authorize again with --paste");
      expect(begun.lines.filter((line) => line.includes("authorize again with --paste"))).toHaveLength(1);
      await takesOwn(begun);
    },
  );

  test("shows an error of the exchange, escaped", async () => {
    const exchange = async (): Promise<void> => {
      throw new SyncError("AUTHORIZATION_EXPIRED", "The code <b>expired</b>.");
    };
    const begun = await begin({ exchange });

    const { page } = await browse(begun, `?code=c&state=${begun.state}`);

    expect(page).toContain("<p>The code &#60;b&#62;expired&#60;/b&#62;.</p>");
    expect(await begun.ended).toBe("AUTHORIZATION_EXPIRED");
  });

  test("answers 404 to everything else, and waits on", async () => {
    const begun = await begin();

    const statuses = [
      await begun.get("", { path: "/favicon.ico" }),
      await begun.get(`?code=c&state=${begun.state}`, { path: "/" }),
      await begun.get(`?code=c&state=${begun.state}`, { path: "/callback/" }),
      await begun.get("", { path: "/callback/done" }),
      await begun.get(""),
      await begun.get(`?state=${begun.state}`),
      await begun.get(`?code=c&state=${begun.state}`, { method: "HEAD" }),
      await begun.get(`?code=c&state=${begun.state}`, { method: "POST" }),
    ].map(({ status }) => status);

    expect(statuses).toEqual(statuses.map(() => 404));
    await takesOwn(begun);
  });

  test("exchanges one code, however often the browser brings it", async () => {
    const waiting = Promise.withResolvers<void>();
    const begun = await begin({ exchange: () => waiting.promise });
    const both = [1, 2].map(() => begun.get(`?code=c&state=${begun.state}`));
    await expect.poll(() => begun.codes.length, { interval: 1 }).toBe(1);

    waiting.resolve();

    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([303, 303]);
    await begun.get("", { path: "/callback/done" });
    await begun.ended;
    expect(begun.codes).toEqual(["c"]);
  });

  test("refuses a request for another host, as a page elsewhere could send it by its own name", async () => {
    const begun = await begin({ redirectUri: (await freeRedirectUri()).replace("127.0.0.1", "localhost") });
    const { port } = new URL(begun.redirectUri);

    const foreign = await ask(`http://127.0.0.1:${port}/callback?code=c&state=${begun.state}`);

    expect(foreign.status).toBe(404);
    begun.stop();
    expect(await begun.ended).toBe("INTERRUPTED");
  });

  test("ends after ten minutes without an answer", async () => {
    const begun = await begin();

    begun.clock.advance(599_999);
    await begun.get("");
    begun.clock.advance(1);

    expect(await begun.ended).toBe("AUTHORIZATION_EXPIRED");
  });

  test("does not wait for a browser that was closed", async () => {
    const begun = await begin();
    await begun.get(`?code=c&state=${begun.state}`);
    await expect.poll(() => begun.clock.sleeping, { interval: 1 }).toBe(1);

    begun.clock.advance(5_000);

    expect(await begun.ended).toBeUndefined();
  });

  test("says that its port is taken, and what to do", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;

    const { ended, lines } = await begin({ redirectUri: `http://127.0.0.1:${port}/callback` });

    expect(await ended).toBe("CONFIG_INVALID");
    expect(lines).toEqual([]);
    other.close();
  });

  test.each([
    [true, []],
    [false, ["No browser could be opened. Open the address above yourself."]],
  ])("opens the browser, or says that it could not: %s", async (isOpen, expected) => {
    const opened: string[] = [];
    const begun = await begin({
      openBrowser: async (address) => {
        opened.push(address);
        return isOpen;
      },
    });

    expect(opened).toEqual([begun.lines[1]]);
    await expect.poll(() => begun.lines.slice(3)).toEqual(expected);
    begun.stop();
    await begun.ended;
  });
});
