// What the store in a bucket does about conflicts, broken connections and lost responses, and what it says when S3 refuses a
// request.

import { describe, expect, it, onTestFinished } from "vitest";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { S3Store } from "../../../../lambdas/job/storage/s3/s3-store.ts";
import { AwsProxy, s3Response } from "../../../aws/aws-proxy.ts";
import { awsClients, emulator, freshBucket, newAwsClients, onEmulator } from "../../../aws/emulator.ts";

const MIB = 1024 * 1024;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (stored: { readonly bytes: Uint8Array } | undefined): string =>
  new TextDecoder().decode(stored?.bytes);

/** The proxy ends with the test. */
async function newProxy(target?: string): Promise<AwsProxy> {
  const proxy = await AwsProxy.start(target);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

interface BrokenConnection {
  readonly proxy: AwsProxy;
  /** Goes through the proxy. */
  readonly store: S3Store;
  /** Another process, on a good connection. */
  readonly other: S3Store;
}

async function brokenConnection(): Promise<BrokenConnection> {
  const bucket = await freshBucket(awsClients().s3);
  const proxy = await newProxy(emulator());
  const at = (endpoint: string): S3Store =>
    new S3Store({ client: newAwsClients(endpoint).s3, bucket, prefix: "", random: systemRandom });
  return {
    proxy,
    store: at(proxy.url),
    other: at(emulator()),
  };
}

/** Enough for two parts. */
async function* large(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 9; n += 1) yield new Uint8Array(MIB).fill(n);
}

function endlessBody() {
  let isEnded = false;
  async function* body(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield* large();
    } finally {
      isEnded = true;
    }
  }
  return { body: body(), isEnded: () => isEnded };
}

onEmulator("a conflict (409)", () => {
  it("is retried until S3 decides", async () => {
    const { proxy, store, other } = await brokenConnection();
    proxy.fault = ({ index }) => (index < 3 ? s3Response(409, "ConditionalRequestConflict") : undefined);

    const version = await store.create("key", bytes("ours"));

    expect((await other.read("key"))?.version).toBe(version);
  });

  it("that does not end is STORE_FAILED, after five requests", async () => {
    const { proxy, store } = await brokenConnection();
    proxy.fault = () => s3Response(409, "ConditionalRequestConflict");

    await expect(store.replace("key", bytes("ours"), '"version"')).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/other processes keep writing the same object.*Start again/),
    });
    expect(proxy.asked).toHaveLength(5);
  });

  it("at the end of a creation in parts is STORE_FAILED, and its parts are removed", async () => {
    const { proxy, store } = await brokenConnection();
    proxy.fault = ({ method, url }) =>
      method === "POST" && url.includes("uploadId=")
        ? s3Response(409, "ConditionalRequestConflict")
        : undefined;

    await expect(store.create("key", large())).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(proxy.asked.at(-1)).toMatchObject({ method: "DELETE", url: expect.stringContaining("uploadId=") });
  });
});

onEmulator("a connection that breaks", () => {
  it("while an object is read is STORE_FAILED, never a shorter object", async () => {
    const { proxy, store, other } = await brokenConnection();
    await other.create("key", new Uint8Array(MIB));
    proxy.fault = () => "cut-response";

    await expect(store.read("key")).rejects.toMatchObject({ code: "STORE_FAILED" });
    const opened = (await store.open("key")) ?? [];
    await expect(Array.fromAsync(opened)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("/key to its end"),
    });
  });

  it("before any part is uploaded is STORE_FAILED and ends the body", async () => {
    const { proxy, store } = await brokenConnection();
    const endless = endlessBody();
    proxy.fault = ({ url }) => (url.includes("?uploads") ? "lose-request" : undefined);

    await expect(store.create("key", endless.body)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(endless.isEnded()).toBe(true);
  });

  it("while parts are uploaded is STORE_FAILED, ends the body and removes the parts", async () => {
    const { proxy, store } = await brokenConnection();
    const endless = endlessBody();
    proxy.fault = ({ url }) => (url.includes("partNumber=2") ? "lose-request" : undefined);

    await expect(store.create("key", endless.body)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(endless.isEnded()).toBe(true);
    expect(proxy.asked.at(-1)).toMatchObject({ method: "DELETE", url: expect.stringContaining("uploadId=") });
  });
});

onEmulator("a lost response", () => {
  it("to a replacement is no lost race", async () => {
    const { proxy, store, other } = await brokenConnection();
    const first = (await other.create("key", bytes("first"))) ?? "";
    proxy.fault = ({ index }) => (index === 0 ? "lose-response" : undefined);

    const version = await store.replace("key", bytes("second"), first);

    expect(version).toBeDefined();
    expect(await other.read("key")).toMatchObject({ version, bytes: Buffer.from("second") });
  });

  it.each([
    { which: "PUT *", body: () => bytes("ours") },
    ...["POST /*?uploads", "PUT *partNumber=1", "PUT *partNumber=2", "POST *uploadId="].map((which) => ({
      which,
      body: large,
    })),
  ])("to $which of a creation is no lost race: the object is ours", async ({ which, body }) => {
    const { proxy, store, other } = await brokenConnection();
    const pattern = new RegExp(`^${which.replaceAll("?", "\\?").replaceAll("*", ".*")}`);
    let lost = false;
    proxy.fault = ({ method, url }) => {
      if (lost || !pattern.test(`${method} ${url}`)) return undefined;
      lost = true;
      return "lose-response";
    };

    const version = await store.create("key", body());

    expect(lost).toBe(true);
    expect(version).toBeDefined();
    expect((await other.read("key"))?.version).toBe(version);
  });

  it.each([
    { what: "as a lost race (412)", again: s3Response(412, "PreconditionFailed") },
    { what: "as an upload that is over (404)", again: s3Response(404, "NoSuchUpload") },
  ])(
    "to the end of a creation in parts, whose repetition S3 sees $what, is no lost race either",
    async ({ again }) => {
      const { proxy, store, other } = await brokenConnection();
      let ends = 0;
      proxy.fault = ({ method, url }) => {
        if (method !== "POST" || !url.includes("uploadId=")) return undefined;
        ends += 1;
        return ends === 1 ? "lose-response" : again;
      };

      const version = await store.create("key", large());

      expect(ends).toBe(2);
      expect(version).toBeDefined();
      expect((await other.read("key"))?.version).toBe(version);
    },
  );

  it("to nothing that was stored is STORE_FAILED: an upload that was aborted meanwhile", async () => {
    const { proxy, store } = await brokenConnection();
    proxy.fault = ({ method, url }) =>
      method === "POST" && url.includes("uploadId=") ? s3Response(404, "NoSuchUpload") : undefined;

    await expect(store.create("key", large())).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it.each(["ours", "theirs"])(
    "is a lost race where another was first, even with the content %j",
    async (content) => {
      const { proxy, store, other } = await brokenConnection();
      proxy.fault = async ({ index }) => {
        if (index > 0) return undefined;
        await other.create("key", bytes(content));
        return "lose-request";
      };

      const version = await store.create("key", bytes("ours"));

      expect(version).toBeUndefined();
      expect(text(await other.read("key"))).toBe(content);
    },
  );

  it("to a creation in parts is a lost race where another was first", async () => {
    const { proxy, store, other } = await brokenConnection();
    proxy.fault = async ({ method, url }) => {
      if (method === "POST" && url.includes("uploadId=")) await other.create("key", bytes("theirs"));
      return undefined;
    };

    expect(await store.create("key", large())).toBeUndefined();
    expect(text(await other.read("key"))).toBe("theirs");
  });

  it("is STORE_FAILED where the maker of the object cannot be found out", async () => {
    const { proxy, store } = await brokenConnection();
    proxy.fault = ({ method, index }) =>
      method === "HEAD" ? { status: 403, body: "" } : index === 0 ? "lose-response" : undefined;

    await expect(store.create("key", bytes("ours"))).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});

describe("a list of keys", () => {
  const keysIn = (body: Buffer): readonly string[] =>
    [...body.toString().matchAll(/<Key>w\/([^<]+)<\/Key>/g)].map(([, key = ""]) => key);
  const deleted = (errors = ""): { readonly status: number; readonly body: string } => ({
    status: 200,
    body: `<?xml version="1.0"?><DeleteResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${errors}</DeleteResult>`,
  });
  const errorOf = (key: string, code: string): string =>
    `<Error><Key>w/${key}</Key><Code>${code}</Code><Message>said ${code}</Message></Error>`;

  /** A store whose deletions are answered so, and the keys of each request. */
  async function answered(answer: (keys: readonly string[], index: number) => string) {
    const proxy = await newProxy();
    const asked: (readonly string[])[] = [];
    proxy.fault = ({ method, url }, { body }) => {
      expect([method, new URL(url, proxy.url).searchParams.has("delete")]).toEqual(["POST", true]);
      expect(body.toString()).toContain("<Quiet>true</Quiet>");
      asked.push(keysIn(body));
      return deleted(answer(keysIn(body), asked.length - 1));
    };
    const client = newAwsClients(proxy.url, 1).s3;
    return { asked, store: new S3Store({ client, bucket: "bucket", prefix: "w/", random: systemRandom }) };
  }

  it("is deleted a thousand at a time", async () => {
    const { asked, store } = await answered(() => "");
    const keys = Array.from({ length: 2_001 }, (_, n) => `a/${n}`);

    await store.delete(keys);
    await store.delete([]);

    expect(asked.map(({ length }) => length)).toEqual([1_000, 1_000, 1]);
    expect(asked.flat()).toEqual(keys);
  });

  it("is asked for again where S3 has not deleted all of it, and only that", async () => {
    const { asked, store } = await answered((keys, index) =>
      keys
        .slice(index + 1)
        .map((key) => errorOf(key, "InternalError"))
        .join(""),
    );

    await store.delete(["a/1", "a/2", "a/3", "a/4"]);

    expect(asked).toEqual([["a/1", "a/2", "a/3", "a/4"], ["a/2", "a/3", "a/4"], ["a/4"]]);
  });

  it.each([
    ["AccessDenied", "AWS refuses it. Give this process s3:DeleteObject on it. AWS says: said AccessDenied"],
    ["SlowDown", "AWS did not respond, or is too busy. Start again later"],
    ["SomethingNew", "S3 reports an error. AWS says: said SomethingNew"],
  ])("that S3 never deletes whole is STORE_FAILED, and names a key: %s", async (code, says) => {
    const { asked, store } = await answered((keys) => (keys.includes("a/2") ? errorOf("a/2", code) : ""));

    await expect(store.delete(["a/1", "a/2", "a/3"])).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(`Could not delete s3://bucket/w/a/2: ${says}`),
      fields: expect.objectContaining({ aws_error: code }),
    });
    expect(asked).toHaveLength(5);
  });
});

const CALLS = [
  ["read", (store: S3Store) => store.read("a/key")],
  ["open", (store: S3Store) => store.open("a/key")],
  ["create", (store: S3Store) => store.create("a/key", bytes("SECRET BODY"))],
  ["create in parts", (store: S3Store) => store.create("a/key", large())],
  ["replace", (store: S3Store) => store.replace("a/key", bytes("SECRET BODY"), '"version"')],
  ["list", (store: S3Store) => Array.fromAsync(store.list("a/"))],
  ["delete", (store: S3Store) => store.delete(["a/key"])],
] as const;

/** A store that gets this response to every request. */
async function refusing(status: number, code: string, message?: string): Promise<S3Store> {
  const proxy = await newProxy();
  proxy.fault = () => s3Response(status, code, message);
  const client = newAwsClients(proxy.url, 1).s3;
  return new S3Store({ client, bucket: "bucket", prefix: "w/", random: systemRandom });
}

describe.each(CALLS)("on %s", (name, call) => {
  it("a refusal (403) is never a missing object: it is STORE_FAILED and names the permission", async () => {
    const store = await refusing(403, "AccessDenied", "User: arn:aws:iam::1:user/x is not authorized");

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
    const store = await refusing(status, code);

    await expect(call(store)).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining(says),
    });
  });

  it(`repeats nothing of a body or a key in its error (${name})`, async () => {
    const store = await refusing(403, "AccessDenied");

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
    const proxy = await newProxy(emulator());
    const client = newAwsClients(proxy.url, 1).s3;
    return [new S3Store({ client, bucket, prefix: "w/", owner, random: systemRandom }), proxy];
  };

  it("names the owner in every request", async () => {
    const [store, proxy] = await owned("111111111111");
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
