// What the command line says of AWS settings that cannot work, before it asks anything of AWS.

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

test.each([
  {
    what: "query of a warehouse in S3",
    args: ["query", "SELECT 1", "--warehouse", "s3://bucket"],
    says: "is read with Athena",
  },
  {
    what: "a bucket that can be none",
    args: ["status", "--warehouse", "s3://Bucket/x"],
    says: '--warehouse: expected s3://bucket or s3://bucket/prefix, with a prefix of segments of A-Z, a-z, 0-9, ".", "_" and "-" that do not begin with "." or "-", and got "s3://Bucket/x"',
  },
  {
    what: "a prefix that can be none",
    args: ["status", "--warehouse", "s3://bucket/a//b"],
    says: "--warehouse: expected",
  },
  { what: "half a location", args: ["status", "--warehouse", "s3:/bucket"], says: "--warehouse: expected" },
  {
    what: "a database that can be none",
    args: ["status", "--database", "Brand-Events"],
    says: "--database: expected a name of 1 to 255 characters of a-z, 0-9 and _",
  },
  {
    what: "no name of a secret",
    args: ["check", "--base-url", "http://127.0.0.1:1", "--credentials", "secretsmanager:"],
    says: "--credentials: expected a file, or secretsmanager: and the name or ARN of a secret",
  },
])("$what exits with 2 and a message that says what to do", async ({ args, says }) => {
  const ended = await sync(args, { cwd: await temporaryDirectory() });

  expect(ended.stderr).toContain(says);
  expect(ended.stderr).not.toMatch(/^ {4}at /m);
  expect(ended.exitCode).toBe(2);
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
