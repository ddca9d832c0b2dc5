import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { pasteAnswer, readAnswer } from "../../../bin/cli/authorize/read-answer.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { ManualClock } from "../../simulator/manual-clock.ts";

const SECRETS = ["the-code", "the-state", "canary-description"];

function outcome(query: string): string {
  try {
    return readAnswer(new URLSearchParams(query), "the-state");
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    for (const secret of SECRETS) expect(error.message).not.toContain(secret);
    expect(error.message).toMatch(/start authorize again|check|ask/i);
    return error.code;
  }
}

describe("an answer with", () => {
  test.each([
    ["code and state", "code=the-code&state=the-state", "the-code"],
    ["an issuer beside them", "code=the-code&state=the-state&iss=https://x.example", "the-code"],
    ["another state", "code=the-code&state=the-statf", "AUTHORIZATION_EXPIRED"],
    ["a longer state", "code=the-code&state=the-state2", "AUTHORIZATION_EXPIRED"],
    ["an empty state", "code=the-code&state=", "AUTHORIZATION_EXPIRED"],
    ["no state, which a provider may not know", "code=the-code", "the-code"],
    ["two codes", "code=the-code&code=other&state=the-state", "AUTHORIZATION_EXPIRED"],
    ["two states", "code=the-code&state=the-state&state=the-state", "AUTHORIZATION_EXPIRED"],
    [
      "a denial",
      "error=access_denied&state=the-state&error_description=canary-description",
      "AUTHORIZATION_EXPIRED",
    ],
    ["a denial without state", "error=access_denied", "AUTHORIZATION_EXPIRED"],
    ["a denial with another state", "error=access_denied&state=x", "AUTHORIZATION_EXPIRED"],
    ["a wrong client", "error=unauthorized_client&state=the-state", "CREDENTIALS_INVALID"],
    ["an unknown client", "error=invalid_client&state=the-state", "CREDENTIALS_INVALID"],
    ["a refused scope", "error=invalid_scope&state=the-state", "UNEXPECTED_RESPONSE"],
    ["a server that is down", "error=temporarily_unavailable&state=the-state", "SERVICE_UNAVAILABLE"],
    ["a reason of its own", "error=canary-description&state=the-state", "UNEXPECTED_RESPONSE"],
  ])("%s → %s → %s", (_, query, expected) => {
    expect(outcome(query)).toBe(expected);
  });
});

const REQUEST = {
  address: "https://login.example/oauth/authorize?x",
  redirectUri: "https://app.example/callback",
  state: "the-state",
  codeVerifier: "v",
};

function begin() {
  const lines: string[] = [];
  const input = new PassThrough();
  const clock = new ManualClock(0);
  const stop = new AbortController();
  const ended = pasteAnswer({
    request: REQUEST,
    input,
    terminal: { lines: (texts) => void lines.push(...texts) },
    clock,
    signal: stop.signal,
  }).catch((error: unknown) => (error instanceof SyncError ? error.code : String(error)));
  return { lines, input, clock, stop: () => stop.abort(), ended };
}

describe("a pasted address", () => {
  test.each([
    ["https://app.example/callback?code=c&state=the-state", "c"],
    ["  https://app.example/callback?code=c&state=the-state  ", "c"],
    ["app.example/callback?code=c&state=the-state", "c"],
    ["https://app.example/callback?code=c", "c"],
    ["https://app.example/callback?code=c&state=other", "AUTHORIZATION_EXPIRED"],
    ["https://app.example/callback?error=access_denied&state=the-state", "AUTHORIZATION_EXPIRED"],
  ])("%s → %s", async (line, expected) => {
    const { input, ended } = begin();

    input.end(`${line}\n`);

    expect(await ended).toBe(expected);
  });

  test("that is another one is asked for again; empty lines are not", async () => {
    const { input, ended, lines } = begin();

    input.write("\nhttps://elsewhere.example/callback?code=secret\nhttps://app.example/callback\nsecret\n");
    input.write("https://app.example/callback?code=c&state=the-state\n");

    expect(await ended).toBe("c");
    expect(lines.filter((line) => line.startsWith("That is not the address"))).toHaveLength(3);
    expect(lines.join()).not.toContain("secret");
  });

  test("is told to the person before it is awaited", async () => {
    const { lines, stop, ended } = begin();

    expect(lines[1]).toBe(REQUEST.address);
    expect(lines[2]).toContain("goes to https://app.example/callback?code=…");
    stop();
    expect(await ended).toBe("INTERRUPTED");
  });

  test("that never comes ends with the input, or after ten minutes", async () => {
    const { input, ended } = begin();
    input.end("nothing\n");
    expect(await ended).toBe("CONFIG_INVALID");

    const other = begin();
    other.clock.advance(600_000);
    expect(await other.ended).toBe("AUTHORIZATION_EXPIRED");
  });
});
