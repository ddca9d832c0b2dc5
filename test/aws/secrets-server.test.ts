import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  type SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { describe, expect, it } from "vitest";
import { SecretsServer } from "./secrets-server.ts";

const SecretId = "tokens-of-uk";
const [A, B, C] = ["a", "b", "c"].map((letter) => letter.repeat(32));

async function secret(
  use: (client: SecretsManagerClient, server: SecretsServer) => Promise<void>,
): Promise<void> {
  await using server = await SecretsServer.start();
  server.create(SecretId);
  const secrets = server.client();
  try {
    await use(secrets, server);
  } finally {
    secrets.destroy();
  }
}

const put = (ClientRequestToken: string | undefined, SecretString: string, VersionStages?: string[]) =>
  new PutSecretValueCommand({ SecretId, ClientRequestToken, SecretString, VersionStages });
const move = (VersionStage: string, RemoveFromVersionId: string | undefined, MoveToVersionId?: string) =>
  new UpdateSecretVersionStageCommand({ SecretId, VersionStage, RemoveFromVersionId, MoveToVersionId });
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

describe("simulated secrets", () => {
  it("a secret without a value answers ResourceNotFoundException and has no versions", () =>
    secret(async (client) => {
      const reading = client.send(new GetSecretValueCommand({ SecretId })).catch(nameOf);

      expect(await reading).toBe("ResourceNotFoundException");
      expect(await client.send(new DescribeSecretCommand({ SecretId }))).toMatchObject({
        VersionIdsToStages: {},
      });
    }));

  it("a new value becomes current and the one before previous", () =>
    secret(async (client) => {
      await client.send(put(A, "1"));
      await client.send(put(B, "2"));

      expect(await client.send(new GetSecretValueCommand({ SecretId }))).toMatchObject({
        VersionId: B,
        SecretString: "2",
      });
      expect(await client.send(new DescribeSecretCommand({ SecretId }))).toMatchObject({
        VersionIdsToStages: { [A ?? ""]: ["AWSPREVIOUS"], [B ?? ""]: ["AWSCURRENT"] },
      });
    }));

  it("a version that exists takes its own value again and no other", () =>
    secret(async (client, server) => {
      await client.send(put(A, "1"));
      await client.send(put(B, "2"));
      await client.send(put(A, "1"));

      expect(await client.send(put(A, "other")).catch(nameOf)).toBe("ResourceExistsException");
      expect([server.value(SecretId), server.versions(SecretId)]).toEqual(["2", 2]);
    }));

  it("a label moves only from the version that has it", () =>
    secret(async (client, server) => {
      for (const [id, value] of [
        [A, "1"],
        [B, "2"],
        [C, "3"],
      ] as const)
        await client.send(put(id, value));
      await client.send(move("mine", undefined, A));

      const refused = [
        await client.send(move("mine", undefined, B)).catch(nameOf),
        await client.send(move("mine", C, B)).catch(nameOf),
        await client.send(move("other", A, B)).catch(nameOf),
      ];
      await client.send(move("mine", A, B));

      expect(refused).toEqual(Array(3).fill("InvalidParameterException"));
      expect(server.labels(SecretId).get("mine")).toBe(B);
    }));

  it("a value of its own label does not become current", () =>
    secret(async (client, server) => {
      await client.send(put(A, "1"));
      await client.send(put(B, "{}", ["anchor"]));

      expect(server.value(SecretId)).toBe("1");
    }));
});
