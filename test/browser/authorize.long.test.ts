// `authorize` as its user sees it: a real process, a real browser, the identity provider's own pages.

import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { authorizing, startAuthorize } from "../cli/authorize/around-authorize.ts";
import { against, lastJson, sync } from "../cli/command-line.ts";
import { httpServer } from "../job/service/http/local-server.ts";
import { CANARY } from "../simulator/account.ts";
import type { IdentityProvider } from "../simulator/identity/identity-provider.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { inBrowser, startBrowser } from "./browser.ts";

inBrowser("authorize with a real browser", () => {
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let cwd: string;
  let redirectUri: string;
  let provider: IdentityProvider;
  /** What the page complains about, such as something that its policy forbids. */
  let complaints: string[];

  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    ({ cwd, redirectUri, provider } = await authorizing("credentials.json"));
    context = await browser.newContext();
    page = await context.newPage();
    complaints = [];
    page.on("console", (message) => {
      if (message.location().url.startsWith(redirectUri)) complaints.push(message.text());
    });
  });
  afterEach(() => context.close());

  const begin = (): ReturnType<typeof startAuthorize> =>
    startAuthorize(["--auth-url", provider.url, "--redirect-uri", redirectUri], { cwd });

  async function logIn(address: string): Promise<void> {
    await page.goto(address);
    await page.getByLabel("E-mail").fill(provider.user.email);
    await page.getByLabel("Password").fill(provider.user.password);
    await page.getByRole("button", { name: "Log in" }).click();
  }

  const decide = (name: "Allow" | "Deny"): Promise<void> => page.getByRole("button", { name }).click();

  test("goes over login and consent to a page that says it may be closed, and the next run publishes", async () => {
    await using service = await Simulator.start({ events: makeEvents(3), bearer: provider });
    const { address, ended } = await begin();
    await logIn(address);
    await decide("Allow");

    await page.getByRole("heading", { name: "Access is authorized" }).waitFor();

    expect(await page.locator("main").innerText()).toContain("You can close this page");
    expect(page.url()).toBe(`${redirectUri}/done`);
    expect(complaints).toEqual([]);
    await picture("done-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await picture("done-dark");
    const { exitCode, stdout, stderr } = await ended;
    expect(exitCode).toBe(0);
    for (const secret of Object.values(CANARY)) expect(stdout + stderr).not.toContain(secret);
    await page.goBack({ waitUntil: "commit" }).catch(() => undefined);
    expect(page.url()).not.toContain("code=");
    const run = await sync(["run", ...against(service), "--auth-url", provider.url, "--json"], { cwd });
    expect(lastJson(run)).toMatchObject({ outcome: "PUBLISHED", events: 3 });
  });

  test("takes nothing that a page in the same browser sends meanwhile, whatever way it does", async () => {
    const { address, ended } = await begin();
    const attacker = await httpServer((_, response) => {
      const target = `${redirectUri}?code=attacker`;
      const html = `<img src="${target}&way=img"><iframe src="${target}&way=frame"></iframe><script>fetch("${target}&way=fetch", { mode: "no-cors" }).catch(() => 0);</script>`;
      response.writeHead(200, { "content-type": "text/html" }).end(html);
    });
    const answered: string[] = [];
    context.on("response", (response) => {
      const { searchParams } = new URL(response.url());
      answered.push(`${searchParams.get("way")} ${response.status()}`);
    });
    const other = await context.newPage();

    const refused = (): readonly string[] => answered.filter((each) => each.endsWith("403")).toSorted();

    await other.goto(attacker.url);
    await expect.poll(refused).toEqual(["fetch 403", "frame 403"]);
    await other.evaluate(`location.href = "${redirectUri}?code=attacker&way=page"`);
    await expect.poll(refused).toContain("page 403");

    await logIn(address);
    await decide("Allow");
    await page.getByRole("heading", { name: "Access is authorized" }).waitFor();
    expect(provider.counts.codeExchanges).toBe(1);
    const { exitCode, stderr } = await ended;
    expect(exitCode).toBe(0);
    expect(stderr).toContain("An answer came from inside another page");
    expect(stderr).toContain("An answer came without state");
    await attacker[Symbol.asyncDispose]();
  });

  test("shows its page in light and dark, and on a phone without scrolling sideways", async () => {
    const { address, ended } = await begin();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 640 });
    await logIn(address);
    await decide("Deny");
    await page.getByRole("heading", { name: "Access is not authorized" }).waitFor();
    await ended;

    const background = (): Promise<string> =>
      page.evaluate("getComputedStyle(document.body).backgroundColor");
    const isDark = await background();
    await picture("failed-dark-phone");
    await page.emulateMedia({ colorScheme: "light" });
    const isLight = await background();
    await picture("failed-light-phone");

    expect([isDark, isLight]).toEqual(["rgb(13, 17, 23)", "rgb(246, 247, 249)"]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
  });

  /** Kept for a person to look at, where a folder is named. */
  async function picture(name: string): Promise<void> {
    const folder = process.env["SCREENSHOTS"];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
  }
});
