// What the command line says where AWS cannot work, before it asks anything of AWS.

import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { sync, syncProcess } from "./command-line.ts";

const NO_FILE = "/no/such/file";
/** A machine where AWS was never set up. */
const NO_AWS = {
  AWS_REGION: "",
  AWS_DEFAULT_REGION: "",
  AWS_PROFILE: "",
  AWS_ACCESS_KEY_ID: "",
  AWS_CONFIG_FILE: NO_FILE,
  AWS_SHARED_CREDENTIALS_FILE: NO_FILE,
  AWS_EC2_METADATA_DISABLED: "true",
};

test("query of a warehouse in S3 exits with 2 and names Athena", async () => {
  const ended = await sync(["query", "SELECT 1", "--warehouse", "s3://bucket"], { cwd: "/" });

  expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("is read with Athena") });
});

test.each([
  {
    what: "no region",
    args: ["status", "--warehouse", "s3://bucket"],
    says: "No AWS region is set. Set AWS_REGION",
  },
  {
    what: "no credentials for AWS",
    args: ["status", "--warehouse", "s3://bucket"],
    env: { AWS_REGION: "eu-west-1" },
    says: "No AWS credentials were found. Log in to AWS",
  },
])("$what exits with 2 and a message that says what to do", async ({ args, env, says }) => {
  const ended = await syncProcess(args, { cwd: await temporaryDirectory(), env: { ...NO_AWS, ...env } });

  expect(ended.stderr).toContain(says);
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
  expect(ended.exitCode).toBe(2);
});
