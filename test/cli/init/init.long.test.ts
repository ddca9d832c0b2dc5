// `init` on a real pseudo-terminal: it asks, shows no secret, writes the files, and what it says next works.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import type { ListOptions } from "../../simulator/list-endpoint.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { printedCommand, sync } from "../command-line.ts";
import { hasPseudoTerminals, syncOnTerminal } from "../output/pseudo-terminal.ts";

const WHOLE: ListOptions = { members: { top: '"total":3' } };

describe.runIf(hasPseudoTerminals)("init on a terminal", { timeout: 20_000 }, () => {
  test.each([{ TERM: "xterm-256color" }, { TERM: "dumb" }])(
    "asks until an answer will do, shows no password, and prints a command that works: $TERM",
    async (env) => {
      const cwd = await temporaryDirectory();
      await using simulator = await Simulator.start({ events: makeEvents(3), list: WHOLE });
      const { email, password } = simulator.credentials;

      const terminal = syncOnTerminal(["init"], { cwd, columns: 100, env });
      await terminal.answer("Account, a name of your own [default]: ", "not a name");
      await terminal.answer("and got", "uk");
      await terminal.answer("Address of the service: ", new URL(simulator.url).host);
      await terminal.answer(`Address of the service [${simulator.url}]: `, `${simulator.url}/v1x\u007f`);
      await terminal.answer("[session]: ", "");
      await terminal.answer("E-mail address: ", email);
      await terminal.answer("Password (not shown): ", `${password}x\u007f`);
      const exitCode = await terminal.exitCode;
      const text = terminal.text();
      const next = await sync(printedCommand(text.replaceAll("\r", ""), "run"), { cwd });

      expect(exitCode, text).toBe(0);
      expect(text).not.toContain(password);
      expect(text).toContain(email);
      expect(text).toMatch(/ok {6}login/);
      expect(JSON.parse(await readFile(join(cwd, "brand-events.json"), "utf8"))).toEqual({
        $schema: "./brand-events.schema.json",
        warehouse: "./warehouse",
        accounts: { uk: { baseUrl: `${simulator.url}/`, credentials: "./credentials/uk.json" } },
      });
      const file = join(cwd, "credentials", "uk.json");
      expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ method: "session", email, password });
      expect(((await stat(file)).mode & 0o777).toString(8)).toBe("600");
      expect(((await stat(join(cwd, "credentials"))).mode & 0o777).toString(8)).toBe("700");
      expect(next.exitCode, next.stderr).toBe(0);
      expect(next.stdout).toContain("PUBLISHED");
    },
  );

  test.each([
    { typed: [], asked: "until it is right", exitCode: 0, logins: 2 },
    { typed: ["wrong-2", "wrong-3"], asked: "three times", exitCode: 1, logins: 3 },
  ])("asks for a refused password again, $asked", async ({ typed, exitCode, logins }) => {
    const cwd = await temporaryDirectory();
    await using simulator = await Simulator.start({ events: makeEvents(3), list: WHOLE });
    const { email, password } = simulator.credentials;
    const given = ["--account", "uk", "--base-url", simulator.url, "--method", "session", "--email", email];

    const terminal = syncOnTerminal(["init", ...given], { cwd, columns: 100 });
    for (const [tries, answer] of ["wrong-1", ...typed, password].slice(0, logins).entries()) {
      if (tries > 0) {
        const left = 3 - tries;
        await terminal.answer(
          new RegExp(`${left} more tr(?:y|ies); [\\s\\S]*E-mail address \\[${email}\\]: $`),
          "",
        );
      }
      // After the answers before, each of which was refused.
      await terminal.answer(
        new RegExp(`(?:LOGIN_REFUSED[\\s\\S]*){${tries}}Password \\(not shown\\): $`),
        answer,
      );
    }
    const ended = await terminal.exitCode;

    expect(ended, terminal.text()).toBe(exitCode);
    expect(simulator.counts.logins).toBe(logins);
    expect(terminal.text()).not.toMatch(/wrong-\d/);
    const file = await readFile(join(cwd, "credentials", "uk.json"), "utf8");
    expect(JSON.parse(file)).toMatchObject({ email, password: exitCode === 0 ? password : "wrong-3" });
  });

  test.each([
    { does: "and takes the one that is there", keeps: false },
    { does: "and keeps it with Enter", keeps: true },
  ])("asks once again for the address of a host that there is not, $does", async ({ keeps }) => {
    const cwd = await temporaryDirectory();
    // A label that begins with a hyphen is no name of a host (RFC 952), so that no network is needed to know it.
    const host = "-a.test";
    const there = "https://127.0.0.1/";

    const terminal = syncOnTerminal(["init", "--account", "uk"], { cwd, columns: 200 });
    await terminal.answer("Address of the service: ", `https://${host}`);
    await terminal.until(`There is no host ${host}. Correct the address, or keep it with Enter.`);
    await terminal.answer(`Address of the service [https://${host}/]: `, keeps ? "" : there);
    await terminal.answer("[session]: ", "oauth\rthe-client\rsecret\rhttps://login.example");
    const exitCode = await terminal.exitCode;

    expect(exitCode, terminal.text()).toBe(0);
    expect(JSON.parse(await readFile(join(cwd, "brand-events.json"), "utf8"))).toMatchObject({
      accounts: { uk: { baseUrl: keeps ? `https://${host}/` : there } },
    });
  });

  test("offers an address with the scheme that was left out: http for this computer, https for others", async () => {
    const cwd = await temporaryDirectory();

    const terminal = syncOnTerminal(["init", "--account", "uk", "--method", "session"], { cwd, columns: 80 });
    await terminal.answer("Address of the service: ", "api.example");
    await terminal.answer("Address of the service [https://api.example]: ", "localhost:9461");
    await terminal.answer("Address of the service [http://localhost:9461]: ", "127.0.0.1:9461");
    await terminal.answer("Address of the service [http://127.0.0.1:9461]: ", "");
    await terminal.until("E-mail address: ");
    terminal.interrupt();

    expect(await terminal.exitCode).toBe(130);
  });

  test("takes answers that are pasted all at once, and shows no secret", async () => {
    const cwd = await temporaryDirectory();
    const secret = "CANARY-client-secret";

    const terminal = syncOnTerminal(["init"], { cwd, columns: 100 });
    await terminal.answer(
      "[default]: ",
      `\rhttps://127.0.0.1\roauth\rthe-client\r${secret}\rhttps://login.example`,
    );
    const exitCode = await terminal.exitCode;
    const text = terminal.text();

    expect(exitCode, text).toBe(0);
    expect(text).not.toContain(secret);
    expect(text).toContain("Next, log in once in the browser: npm run sync -- authorize");
    const file = join(cwd, "credentials", "default.json");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
      method: "oauth",
      client_id: "the-client",
      client_secret: secret,
    });
  });

  /** An account whose list this is, where the password is typed and `init` then goes on. */
  async function newAccount(list: ListOptions, events = 25) {
    const cwd = await temporaryDirectory();
    const simulator = await Simulator.start({ events: makeEvents(events), list });
    const { email, password } = simulator.credentials;
    const given = ["--account", "uk", "--base-url", simulator.url, "--method", "session", "--email", email];
    const terminal = syncOnTerminal(["init", ...given], { cwd, columns: 200 });
    await terminal.answer("Password (not shown): ", password);
    const settings = async (): Promise<unknown> =>
      JSON.parse(await readFile(join(cwd, "brand-events.json"), "utf8")).accounts.uk;
    const own = { baseUrl: `${simulator.url}/`, credentials: "./credentials/uk.json" };
    return { cwd, simulator, terminal, settings, own, [Symbol.asyncDispose]: () => simulator.stop() };
  }

  const QUESTION = "Is that all? yes, no, or Enter if you do not know: ";

  test.each([
    {
      typed: "maybe\ryes",
      written: { nextPage: "all" },
      said: `Written: "nextPage": "all" of the account uk in`,
    },
    { typed: "no", written: {}, said: "Then ask the service's operator how the list is paged" },
    { typed: "", written: {}, said: QUESTION },
  ])(
    "asks whether a list is whole that does not say it, and writes the answer: $typed",
    async ({ typed, written, said }) => {
      await using there = await newAccount({});
      const { cwd, terminal, settings, own } = there;

      await terminal.answer(QUESTION, typed);
      const exitCode = await terminal.exitCode;
      const run = await sync(printedCommand(terminal.text().replaceAll("\r", ""), "run"), { cwd });

      expect(exitCode, terminal.text()).toBe(0);
      expect(terminal.text()).toContain(said);
      expect(await settings()).toEqual({ ...own, ...written });
      expect(run.stderr.includes("Nothing says that the list is whole")).toBe(typed !== "maybe\ryes");
    },
  );

  test("offers settings that work, one after the other, and writes those that a person wants", async () => {
    await using there = await newAccount({ shape: "result-items", pageSize: 10, next: "none" });
    const { cwd, terminal, settings, own } = there;

    await terminal.answer(
      '"listPointer": "/result/items" works. Write it into brand-events.json? yes or no [yes]: ',
      "",
    );
    await terminal.answer(
      '"nextPage": "page={page}" works. Write it into brand-events.json? yes or no [yes]: ',
      "y",
    );
    const exitCode = await terminal.exitCode;
    const run = await sync(printedCommand(terminal.text().replaceAll("\r", ""), "run"), { cwd });

    expect(exitCode, terminal.text()).toBe(0);
    expect(await settings()).toEqual({ ...own, listPointer: "/result/items", nextPage: "page={page}" });
    expect(run.stdout).toContain("25 events with details");
    expect(run.stderr).not.toContain("list is");
  });

  test("check asks too, says what to set, and changes no file", async () => {
    await using there = await newAccount({});
    await there.terminal.answer(QUESTION, "");
    await there.terminal.exitCode;

    const terminal = syncOnTerminal(["check"], { cwd: there.cwd, columns: 200 });
    await terminal.answer(QUESTION, "yes");
    const exitCode = await terminal.exitCode;

    expect(exitCode, terminal.text()).toBe(0);
    expect(terminal.text()).toContain('Then set "nextPage": "all" of the account uk in brand-events.json');
    expect(await there.settings()).toEqual(there.own);
  });

  test("Ctrl-C at the last question does not say that nothing was written", async () => {
    await using there = await newAccount({});

    await there.terminal.until(QUESTION);
    there.terminal.interrupt();

    expect(await there.terminal.exitCode).toBe(130);
    expect(there.terminal.text()).toMatch(/INTERRUPTED: Stopped before all questions were answered\.\r?\n$/);
  });

  test("Ctrl-C in the middle writes nothing and exits with 130", async () => {
    const cwd = await temporaryDirectory();

    const terminal = syncOnTerminal(["init", "--account", "uk"], { cwd, columns: 100 });
    await terminal.until("Address of the service: ");
    terminal.interrupt();
    const exitCode = await terminal.exitCode;

    expect(exitCode).toBe(130);
    expect(terminal.text()).toContain(
      "INTERRUPTED: Stopped before all questions were answered. Nothing was written.",
    );
    await expect(stat(join(cwd, "credentials"))).rejects.toThrow("ENOENT");
  });
});
