// What a person runs after an attempt that came to nothing, and the message before it.

import { expect, test } from "vitest";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import {
  messageBefore,
  NEXT_OPTIONS,
  nextAfterFailure,
  nextAfterSkip,
  sentence,
  skippedBecause,
  textHere,
} from "../../../bin/cli/output/next-command.ts";
import { RESTART } from "../../../lambdas/job/errors/sync-error.ts";

const ENVIRONMENT = {
  BRAND_WAREHOUSE: "/data",
  BRAND_CREDENTIALS: "/uk.json",
  BRAND_BASE_URL: "https://service.example",
  BRAND_AUTH_URL: "https://id.example",
  BRAND_MAX_DROP: "50",
  BRAND_LOG_LEVEL: "warn",
  BRAND_JSON: "true",
};
const values = new GivenOptions({ account: "uk" }, ENVIRONMENT, "/srv").read(NEXT_OPTIONS);

test.each([
  [
    "AUTHORIZATION_EXPIRED",
    false,
    ["To authorize again", "authorize --account uk --auth-url https://id.example/ --credentials /uk.json"],
  ],
  [
    "STORE_FAILED",
    true,
    [
      "To resume it",
      "run --account uk --warehouse /data --base-url https://service.example/ --auth-url https://id.example/ --credentials /uk.json --max-drop 50",
    ],
  ],
  [
    "LIST_INCOMPLETE",
    false,
    [
      "To find the cause",
      "check --account uk --warehouse /data --base-url https://service.example/ --auth-url https://id.example/ --credentials /uk.json",
    ],
  ],
])("after %s, unfinished: %j, comes %j", (code, isUnfinished, [purpose, command]) => {
  const next = nextAfterFailure(code, isUnfinished, values);

  expect(next).toEqual([purpose, `npm run sync -- ${command}`]);
});

test.each([
  ["LEASE_TAKEN", "To start a run", /^Another process worked/],
  ["OTHER_VERSION", "To start a run", /^Another version/],
  ["LOGIN_REFUSED", "To find the cause", /^The service had refused/],
  ["NOT_SET_UP", "To find the cause", /^The credentials were not/],
])("after a start that was skipped because of %s: %s", (reason, purpose, why) => {
  expect(nextAfterSkip(reason, values)[0]).toBe(purpose);
  expect(skippedBecause(reason)).toMatch(why);
});

test("a text that says that a run may restart gets the command", () => {
  expect(textHere(`It is cut. ${RESTART}`, () => values)).toBe(
    "It is cut. Or restart over the damage; then all events count as added: `npm run sync -- run --over-damaged --account uk --warehouse /data --base-url https://service.example/ --auth-url https://id.example/ --credentials /uk.json --max-drop 50`.",
  );
});

test("where the address of a service is not known, no command is shown that could not work", () => {
  const unknown = new GivenOptions({ account: "uk" }, {}, "/srv").read(NEXT_OPTIONS);

  expect(textHere(`It is cut. ${RESTART}`, () => unknown)).toBe(`It is cut. ${RESTART}`);
  expect(nextAfterFailure("LIST_INCOMPLETE", false, unknown)).toEqual([
    "To find the cause",
    "check, which needs --base-url or a settings file",
  ]);
  expect(nextAfterFailure("AUTHORIZATION_EXPIRED", false, unknown)[1]).toBe(
    "authorize, which needs --auth-url or a settings file",
  );
});

test("a message is one sentence of bounded length, without the command that follows it", () => {
  expect(sentence("The disk\n is full")).toBe("The disk is full.");
  expect(sentence("Is it full?")).toBe("Is it full?");
  expect(sentence(null)).toBe("");
  expect(sentence("x".repeat(1_000))).toBe(`${"x".repeat(1_000)}.`);
  expect(sentence("x".repeat(1_001))).toBe(`${"x".repeat(1_000)}…`);
  const next = ["To authorize again", "sync authorize"] as const;
  expect(messageBefore(next, "It is over. Use: sync authorize.", values)).toBe("It is over.");
  expect(messageBefore(next, "It is over.", values)).toBe("It is over.");
});
