// A secret in the wrong place is refused with what is expected there, and repeated nowhere.

import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../simulator/account.ts";
import { lastJson, sync } from "./command-line.ts";

const LOOPBACK = ["--base-url", "http://127.0.0.1:1"];
const JSON_TEXT = `{"method":"session","email":"${CANARY.email}","password":"${CANARY.password}"}`;
const URL_TEXT = `https://${CANARY.email}:${CANARY.password}@service.example/path`;

test.each([
  { place: "BRAND_CREDENTIALS", args: ["run", ...LOOPBACK], env: { BRAND_CREDENTIALS: JSON_TEXT } },
  {
    place: "BRAND_CREDENTIALS",
    args: ["check", ...LOOPBACK],
    env: { BRAND_CREDENTIALS: ` \n'${JSON_TEXT}'` },
  },
  { place: "BRAND_WAREHOUSE", args: ["status"], env: { BRAND_WAREHOUSE: JSON_TEXT } },
  { place: "BRAND_CREDENTIALS", args: ["run", ...LOOPBACK], env: { BRAND_CREDENTIALS: URL_TEXT } },
  {
    place: "BRAND_CREDENTIALS",
    args: ["run", ...LOOPBACK],
    env: { BRAND_CREDENTIALS: `${CANARY.email}:${CANARY.password}` },
  },
  { place: "--credentials", args: ["run", ...LOOPBACK, "--credentials", JSON_TEXT] },
  { place: "--credentials", args: ["run", ...LOOPBACK, `--credentials=${JSON_TEXT}`] },
  { place: "--credentials", args: ["run", ...LOOPBACK, "--credentials", `secretsmanager:${JSON_TEXT}`] },
  { place: "--list-pointer", args: ["run", ...LOOPBACK, "--list-pointer", JSON_TEXT] },
  { place: "--list-pointer", args: ["run", ...LOOPBACK, "--list-pointer", URL_TEXT] },
  { place: "--lift", args: ["run", ...LOOPBACK, "--lift", JSON_TEXT] },
  { place: "--lift", args: ["run", ...LOOPBACK, "--lift", `X=${URL_TEXT}`] },
  { place: "--base-url", args: ["run", "--base-url", URL_TEXT] },
  { place: "--warehouse", args: ["status", "--warehouse", URL_TEXT] },
  { place: "--warehouse", args: ["status", "--warehouse", URL_TEXT.replace("https", "s3")] },
  { place: "An argument", args: ["accept", JSON_TEXT] },
  { place: "An argument", args: ["query", JSON_TEXT] },
  { place: "An argument", args: [JSON_TEXT] },
  { place: "too many arguments", args: ["run", URL_TEXT] },
])("$place of $args.0 is refused and not repeated", async ({ place, args, env = {} }) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stdout, stderr } = await sync(args, { cwd, env });

  expect(exitCode).toBe(2);
  expect(stderr).toContain(place);
  expect(`${stdout}${stderr}`.toLowerCase()).not.toContain("canary");
  expect(await readdir(cwd)).toEqual([]);
});

test("the refusal is in the line of JSON too, and says what is expected", async () => {
  const cwd = await temporaryDirectory();

  const ended = await sync(["run", "--json", ...LOOPBACK, "--credentials", JSON_TEXT], { cwd });

  const { outcome, error_code, error_message } = lastJson(ended);
  expect([outcome, error_code]).toEqual(["FAILED", "CONFIG_INVALID"]);
  expect(error_message).toContain(
    "Write credentials to a file with mode 0600 and name that file with --credentials",
  );
});
