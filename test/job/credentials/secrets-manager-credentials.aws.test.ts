// Credentials in AWS Secrets Manager keep the contract, and each thing that can be wrong with a secret has its remedy.

import { randomUUID } from "node:crypto";
import { CreateSecretCommand, PutSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { describe, expect, it } from "vitest";
import { CredentialsNotSetUp } from "../../../lambdas/job/credentials/credentials.ts";
import { SecretsManagerCredentials } from "../../../lambdas/job/credentials/secrets-manager-credentials.ts";
import { type Asked, AwsProxy, type Fault, jsonResponse } from "../../aws/aws-proxy.ts";
import { awsClients, newAwsClients, onEmulator } from "../../aws/emulator.ts";
import { credentialsContract } from "./credentials-contract.ts";

const FILL = /Fill it with: aws secretsmanager put-secret-value --secret-id \S+ --secret-string file:\/\//;

/** A secret without a value, as the stack makes it. */
async function emptySecret(): Promise<string> {
  const name = `brand-events/${randomUUID()}`;
  await awsClients().secrets.send(new CreateSecretCommand({ Name: name }));
  return name;
}

onEmulator("in Secrets Manager", () => {
  credentialsContract("SecretsManagerCredentials", async () => {
    const { secrets: client } = awsClients();
    const secretId = await emptySecret();
    return {
      credentials: new SecretsManagerCredentials({ client, secretId }),
      store: async (SecretString) => {
        await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString }));
      },
    };
  });

  it("what was read has the name of its version, whatever is stored afterwards", async () => {
    const { secrets: client } = awsClients();
    const SecretId = await emptySecret();
    const put = async (password: string): Promise<string | undefined> => {
      const SecretString = JSON.stringify({ method: "session", email: "a@b.test", password });
      return (await client.send(new PutSecretValueCommand({ SecretId, SecretString }))).VersionId;
    };
    const credentials = new SecretsManagerCredentials({ client, secretId: SecretId });

    const stored = [await put("1")];
    const read = [await credentials.read()];
    stored.push(await put("2"));
    read.push(await credentials.read());

    expect(stored.every((version) => version !== undefined)).toBe(true);
    expect(read.map((one) => credentials.versionOf(one))).toEqual(stored);
    expect(new Set(stored).size).toBe(2);
  });

  it("a secret that never had a value is not set up yet, and the error says how to fill it", async () => {
    const secretId = await emptySecret();

    const error = await new SecretsManagerCredentials({ client: awsClients().secrets, secretId })
      .read()
      .catch((reason: unknown) => reason);

    expect(error).toBeInstanceOf(CredentialsNotSetUp);
    expect(error).toMatchObject({
      code: "CREDENTIALS_INVALID",
      message: expect.stringMatching(
        new RegExp(`^The secret ${secretId} has no value yet\\. ${FILL.source}`),
      ),
      fields: { secret: secretId },
    });
  });

  it("a secret that does not exist is no unfinished setup", async () => {
    const { secrets: client } = awsClients();

    const error = await new SecretsManagerCredentials({ client, secretId: "no/such-secret" })
      .read()
      .catch((reason: unknown) => reason);

    expect(error).not.toBeInstanceOf(CredentialsNotSetUp);
    expect(error).toMatchObject({
      code: "CREDENTIALS_INVALID",
      message: expect.stringMatching(
        /^Could not read the secret no\/such-secret: there is no such secret .*AWS_REGION/,
      ),
    });
  });

  it("a secret of bytes is CREDENTIALS_INVALID", async () => {
    const { secrets: client } = awsClients();
    const secretId = await emptySecret();
    const SecretBinary = Buffer.from('{"method":"session"}');
    await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretBinary }));

    await expect(new SecretsManagerCredentials({ client, secretId }).read()).rejects.toMatchObject({
      code: "CREDENTIALS_INVALID",
      message: expect.stringContaining("holds bytes, not text"),
    });
  });
});

describe("a response of Secrets Manager", () => {
  it.each([
    [
      "AccessDeniedException",
      400,
      "CREDENTIALS_INVALID",
      "Give it secretsmanager:GetSecretValue on the secret",
    ],
    ["InvalidRequestException", 400, "CREDENTIALS_INVALID", "marked for deletion"],
    ["ExpiredTokenException", 400, "CREDENTIALS_INVALID", "Log in to AWS again"],
    ["DecryptionFailure", 400, "CREDENTIALS_INVALID", "AWS says: said DecryptionFailure"],
    ["ThrottlingException", 400, "STORE_FAILED", "too busy. Start again later"],
    ["InternalServiceError", 500, "STORE_FAILED", "Start again later"],
  ] as const)("%s (%i) is %s and says: %s", async (name, status, code, says) => {
    const reading = readFrom(jsonResponse(name, undefined, status));

    await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });

  it.each([
    [
      "AccessDeniedException",
      "CREDENTIALS_INVALID",
      "there is no such secret in this account and region, or it has no value yet",
    ],
    ["ThrottlingException", "STORE_FAILED", "too busy. Start again later"],
  ] as const)("%s about a secret without a value is %s and says: %s", async (name, code, says) => {
    const reading = readFrom(({ action }) =>
      jsonResponse(action === "secretsmanager.DescribeSecret" ? name : "ResourceNotFoundException"),
    );

    await expect(reading).rejects.toMatchObject({ code, message: expect.stringContaining(says) });
  });

  it("that does not come is STORE_FAILED, so that a retry resumes the run", async () => {
    await expect(readFrom("lose-request")).rejects.toMatchObject({
      code: "STORE_FAILED",
      isRetryable: true,
    });
  });
});

async function readFrom(fault: Fault | ((asked: Asked) => Fault)): Promise<unknown> {
  await using proxy = await AwsProxy.start();
  proxy.fault = (asked) => (typeof fault === "function" ? fault(asked) : fault);
  const { secrets: client } = newAwsClients(proxy.url, 1);
  return await new SecretsManagerCredentials({ client, secretId: "brand/uk" }).read();
}
