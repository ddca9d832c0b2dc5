// The command line in an environment in which Node.js accepts any certificate.

import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { sync } from "./command-line.ts";

const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
const BASE = ["--base-url", "https://service.test"];
const S3 = ["--warehouse", "s3://bucket-of-a-test/w", "--database", "d"];

test.each([
  ["run", BASE],
  ["run --all", []],
  ["check", BASE],
  ["discover", BASE],
  ["verify", BASE],
  ["init", BASE],
  ["authorize", ["--auth-url", "https://login.test"]],
  ["status", S3],
  ["accept held", S3],
])("%s is refused with the reason, and writes nothing", async (command, args) => {
  const cwd = await temporaryDirectory();

  const { exitCode, stderr } = await sync([...command.split(" "), ...args], { cwd, env });

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/^CONFIG_INVALID: .* NODE_TLS_REJECT_UNAUTHORIZED is 0: .* set NODE_EXTRA_CA_CERTS/);
  expect(await readdir(cwd)).toEqual([]);
});

test("a command that sends nothing is not refused", async () => {
  const { stderr } = await sync(["status"], { cwd: await temporaryDirectory(), env });

  expect(stderr).not.toContain("NODE_TLS_REJECT_UNAUTHORIZED");
});
