// What the store in a bucket says when S3 refuses a request.

import { describe, expect, it } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { S3Store } from "../../../../lambdas/job/storage/s3/s3-store.ts";
import { AwsProxy, s3Response } from "../../../aws/aws-proxy.ts";
import { awsClients, emulator, freshBucket, newAwsClients, onEmulator } from "../../../aws/emulator.ts";
import { bytes, large } from "./broken-connection.ts";

const CALLS = [
  ["read", (store: S3Store) => store.read("a/key")],
  ["open", (store: S3Store) => store.open("a/key")],
  ["create", (store: S3Store) => store.create("a/key", bytes("SECRET BODY"))],
  ["create in parts", (store: S3Store) => store.create("a/key", large())],
  ["replace", (store: S3Store) => store.replace("a/key", bytes("SECRET BODY"), '"version"')],
  ["list", (store: S3Store) => Array.fromAsync(store.list("a/"))],
  ["delete", (store: S3Store) => store.delete("a/key")],
] as const;

/** A store that gets this response to every request. */
async function refusing(status: number, code: string, message?: string): Promise<[S3Store, AwsProxy]> {
  const proxy = await AwsProxy.start();
  proxy.fault = () => s3Response(status, code, message);
  return [
    new S3Store({
      client: newAwsClients(proxy.url, 1).s3,
      bucket: "bucket",
      prefix: "w/",
      random: systemRandom,
    }),
    proxy,
  ];
}

describe.each(CALLS)("on %s", (name, call) => {
  it("a refusal (403) is never a missing object: it is STORE_FAILED and names the permission", async () => {
    const [store, proxy] = await refusing(
      403,
      "AccessDenied",
      "User: arn:aws:iam::1:user/x is not authorized",
    );
    await using _ = proxy;

    await expect(call(store)).rejects.toMatchObject({
      code: "STORE_FAILED",
      isRetryable: true,
      message: expect.stringMatching(
        /^Could not \w+ s3:\/\/bucket\/w\/a\/(key)?: AWS refuses it\. Give this process s3:\w+.* AWS says: User: arn:aws:iam::1:user\/x is not authorized \(AccessDenied\)$/,
      ),
      fields: expect.objectContaining({ aws_error: "AccessDenied", status: 403 }),
    });
  });

  it.each([
    { status: 404, code: "NoSuchBucket", says: "the bucket does not exist. Deploy the stack" },
    { status: 301, code: "PermanentRedirect", says: "in another region. Set AWS_REGION" },
    { status: 403, code: "ExpiredToken", says: "Log in to AWS again" },
    { status: 403, code: "RequestTimeTooSkewed", says: "the clock of this machine is wrong" },
    { status: 503, code: "SlowDown", says: "too busy. Start again later" },
    {
      status: 403,
      code: "InvalidObjectState",
      says: "a lifecycle rule of the bucket has archived it. Delete",
    },
    { status: 400, code: "SomethingNew", says: "S3 reports an error. AWS says: said SomethingNew" },
  ])("$status $code is STORE_FAILED and says: $says", async ({ status, code, says }) => {
    const [store, proxy] = await refusing(status, code);
    await using _ = proxy;

    await expect(call(store)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(says),
    });
  });

  it(`repeats nothing of a body or a key in its error (${name})`, async () => {
    const [store, proxy] = await refusing(403, "AccessDenied");
    await using _ = proxy;

    const error = await call(store).then(
      () => undefined,
      (reason: unknown) => reason,
    );

    const said =
      error instanceof Error ? [error.message, error.stack, String(error.cause), JSON.stringify(error)] : [];
    expect(said).toHaveLength(4);
    expect(said.join()).not.toMatch(/SECRET BODY|emulator|authorization/i);
  });
});

onEmulator("a store that knows the owner of its bucket", () => {
  /** What S3 does and the emulator does not: it refuses requests for a bucket of another account. */
  const refuseOthers = (proxy: AwsProxy, owner: string): void => {
    proxy.fault = (_, { headers }) =>
      headers["x-amz-expected-bucket-owner"] === owner ? undefined : s3Response(403, "AccessDenied");
  };
  const owned = async (owner: string): Promise<[S3Store, AwsProxy]> => {
    const bucket = await freshBucket(awsClients().s3);
    const proxy = await AwsProxy.start(emulator());
    const client = newAwsClients(proxy.url, 1).s3;
    return [new S3Store({ client, bucket, prefix: "w/", owner, random: systemRandom }), proxy];
  };

  it("names the owner in every request", async () => {
    const [store, proxy] = await owned("111111111111");
    await using _ = proxy;
    refuseOthers(proxy, "111111111111");

    for (const [, call] of CALLS) await call(store);
    await store.create("a/key", bytes("taken"));
    await store.create("a/key", large());

    const methods = new Set(proxy.asked.map(({ method }) => method));
    expect(methods).toEqual(new Set(["GET", "PUT", "POST", "HEAD", "DELETE"]));
  });

  it.each(CALLS)(
    "is refused where the bucket belongs to another account, and names its own: %s",
    async (_, call) => {
      const [store, proxy] = await owned("111111111111");
      await using __ = proxy;
      refuseOthers(proxy, "222222222222");

      await expect(call(store)).rejects.toMatchObject({
        code: "STORE_FAILED",
        message: expect.stringContaining("the bucket does not belong to the AWS account 111111111111"),
      });
    },
  );
});

describe("without a connection", () => {
  it("is STORE_FAILED and says what to check", async () => {
    const store = new S3Store({
      client: newAwsClients("http://127.0.0.1:1").s3,
      bucket: "bucket",
      prefix: "",
      random: systemRandom,
    });

    await expect(store.read("key")).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/did not respond.*network, proxy and region.*\(ECONNREFUSED\)/),
    });
  });
});
