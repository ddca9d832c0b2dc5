import { expect, test } from "vitest";
import { canListenOn } from "../../../bin/cli/commands/authorize.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";

const redirectAddress = (redirectUri: string): string =>
  new GivenOptions({ redirectUri }, {}, "/").read(["redirectUri"]).redirectUri;

test.each([
  ["http://127.0.0.1:8912/callback", true],
  ["http://127.0.0.1:8912", true],
  ["http://localhost/callback", true],
  ["http://[::1]:8912/", true],
  ["https://127.0.0.1:8912/callback", false],
  ["https://app.example/brand/callback", false],
])("%s is taken as it is; can be listened on: %s", (text, expected) => {
  expect(redirectAddress(text)).toBe(text);
  expect(canListenOn(text)).toBe(expected);
});

test.each([
  ["callback", "absolute URL"],
  ["ftp://127.0.0.1/callback", "absolute URL"],
  ["http://app.example/callback", "https:"],
  ["http://127.0.0.1.example/callback", "https:"],
  ["http://127.0.0.1:0/callback", "port"],
  ["http://user:secret-word@127.0.0.1:8912/", "user name"],
  ["https://app.example/?code=secret-word", "query"],
  ["https://app.example/#x", "fragment"],
])("%s is refused: expected %s", (text, expected) => {
  const take = (): string => redirectAddress(text);

  expect(take).toThrow(expected);
  expect(take).not.toThrow("secret-word");
});
