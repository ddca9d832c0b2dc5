// Which texts are credentials; those in a file and in memory keep the contract.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import { FileCredentials } from "../../../lambdas/job/credentials/file-credentials.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { temporaryDirectory } from "../storage/directory/temporary-directory.ts";
import { credentialsContract } from "./credentials-contract.ts";
import { MemoryCredentials } from "./memory-credentials.ts";

credentialsContract("FileCredentials", async () => {
  const file = join(await temporaryDirectory(), "credentials.json");
  const credentials = new FileCredentials(file, new LogLines());
  return { credentials, store: (text) => writeFile(file, text, { mode: 0o600 }) };
});

credentialsContract("MemoryCredentials", async () => {
  const credentials = new MemoryCredentials();
  return { credentials, store: async (text) => credentials.store(text) };
});

const errorOf = (json: string): SyncError => {
  try {
    parseCredentials(json);
  } catch (error) {
    if (error instanceof SyncError) return error;
    throw error;
  }
  throw new Error("accepted");
};

describe("credentials", () => {
  it.each([
    [
      '{"method":"session","email":"a@b.test","password":"p"}',
      { method: "session", email: "a@b.test", password: "p" },
    ],
    [
      '{"method":"basic","email":"a@b.test","password":"p:q"}',
      { method: "basic", email: "a@b.test", password: "p:q" },
    ],
    [
      '\uFEFF{ "password": "p", "email": "a:b", "method": "session" }\n',
      { method: "session", email: "a:b", password: "p" },
    ],
    [
      '{"method":"oauth","client_id":"c","client_secret":"s"}',
      { method: "oauth", client_id: "c", client_secret: "s" },
    ],
  ])("%s is accepted", (json, expected) => {
    expect(parseCredentials(json)).toEqual(expected);
  });

  const METHOD = '"method" must be "session", "basic" or "oauth"';
  const EMAIL = '"email" must be a text that is not empty';
  const CLIENT_ID = '"client_id" must be a text that is not empty';
  const CLIENT_SECRET = '"client_secret" must be a text that is not empty';
  const PASSWORD = '"password" must be a text that is not empty';
  it.each([
    ["", "they are not valid JSON"],
    ['{"method":"session","email":"secret-1","password":"secret-2"', "they are not valid JSON"],
    ['["secret-1"]', "they must be a JSON object"],
    ['"secret-1"', "they must be a JSON object"],
    ["null", "they must be a JSON object"],
    ["{}", METHOD],
    ['{"method":"token","client_id":"secret-1","client_secret":"secret-2"}', METHOD],
    ['{"method":"oauth","client_id":"secret-1"}', CLIENT_SECRET],
    ['{"method":"oauth","email":"secret-1","password":"secret-2"}', `${CLIENT_ID}; ${CLIENT_SECRET}`],
    [
      '{"method":"oauth","client_id":"secret-1","client_secret":"secret-2","secret-3":true}',
      'with the method "oauth" they take the keys "method", "client_id" and "client_secret" and no others',
    ],
    ['{"method":"session","email":"secret-1"}', PASSWORD],
    ['{"method":"session","email":["secret-1"],"password":""}', `${EMAIL}; ${PASSWORD}`],
    ['{"method":"basic","email":"secret:1","password":"secret-2"}', `${EMAIL} and has no colon`],
    [
      '{"method":"basic","email":"secret-1","password":"secret-2","secret-3":true}',
      'with the method "basic" they take the keys "method", "email" and "password" and no others',
    ],
  ])("%s is refused: %s", (json, problem) => {
    const error = errorOf(json);

    expect(error.code).toBe("CREDENTIALS_INVALID");
    expect(error.message).toContain(`The credentials are not usable: ${problem}.`);
    expect(`${error.message} ${JSON.stringify(error.fields)}`).not.toContain("secret-");
    expect(error.cause).toBeUndefined();
  });
});
