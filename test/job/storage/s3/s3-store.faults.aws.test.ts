// What the store in a bucket does about conflicts, broken connections and lost responses.

import { expect, it } from "vitest";
import { s3Response } from "../../../aws/aws-proxy.ts";
import { onEmulator } from "../../../aws/emulator.ts";
import { brokenConnection, bytes, large, MIB, text } from "./broken-connection.ts";

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
    await using world = await brokenConnection();
    const { proxy, store, other } = world;
    proxy.fault = ({ index }) => (index < 3 ? s3Response(409, "ConditionalRequestConflict") : undefined);

    const version = await store.create("key", bytes("ours"));

    expect((await other.read("key"))?.version).toBe(version);
  });

  it("that does not end is STORE_FAILED, after five requests", async () => {
    await using world = await brokenConnection();
    const { proxy, store } = world;
    proxy.fault = () => s3Response(409, "ConditionalRequestConflict");

    await expect(store.replace("key", bytes("ours"), '"version"')).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringMatching(/other processes keep writing the same object.*Start again/),
    });
    expect(proxy.asked).toHaveLength(5);
  });

  it("at the end of a creation in parts is STORE_FAILED, and its parts are removed", async () => {
    await using world = await brokenConnection();
    const { proxy, store } = world;
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
    await using world = await brokenConnection();
    const { proxy, store, other } = world;
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
    await using world = await brokenConnection();
    const { proxy, store } = world;
    const endless = endlessBody();
    proxy.fault = ({ url }) => (url.includes("?uploads") ? "lose-request" : undefined);

    await expect(store.create("key", endless.body)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(endless.isEnded()).toBe(true);
  });

  it("while parts are uploaded is STORE_FAILED, ends the body and removes the parts", async () => {
    await using world = await brokenConnection();
    const { proxy, store } = world;
    const endless = endlessBody();
    proxy.fault = ({ url }) => (url.includes("partNumber=2") ? "lose-request" : undefined);

    await expect(store.create("key", endless.body)).rejects.toMatchObject({ code: "STORE_FAILED" });
    expect(endless.isEnded()).toBe(true);
    expect(proxy.asked.at(-1)).toMatchObject({ method: "DELETE", url: expect.stringContaining("uploadId=") });
  });
});

onEmulator("a lost response", () => {
  it("to a creation is no lost race: the object is ours", async () => {
    await using world = await brokenConnection();
    const { proxy, store, other } = world;
    proxy.fault = ({ index }) => (index === 0 ? "lose-response" : undefined);

    const version = await store.create("key", bytes("ours"));

    expect(version).toBeDefined();
    expect((await other.read("key"))?.version).toBe(version);
  });

  it("to a replacement is no lost race either", async () => {
    await using world = await brokenConnection();
    const { proxy, store, other } = world;
    const first = (await other.create("key", bytes("first"))) ?? "";
    proxy.fault = ({ index }) => (index === 0 ? "lose-response" : undefined);

    const version = await store.replace("key", bytes("second"), first);

    expect(version).toBeDefined();
    expect(await other.read("key")).toMatchObject({ version, bytes: Buffer.from("second") });
  });

  it.each(["POST /*?uploads", "PUT *partNumber=1", "PUT *partNumber=2", "POST *uploadId="])(
    "to %s of a creation in parts is no lost race either",
    async (which) => {
      await using world = await brokenConnection();
      const { proxy, store, other } = world;
      const pattern = new RegExp(`^${which.replaceAll("?", "\\?").replaceAll("*", ".*")}`);
      let lost = false;
      proxy.fault = ({ method, url }) => {
        if (lost || !pattern.test(`${method} ${url}`)) return undefined;
        lost = true;
        return "lose-response";
      };

      const version = await store.create("key", large());

      expect(lost).toBe(true);
      expect(version).toBeDefined();
      expect((await other.read("key"))?.version).toBe(version);
    },
  );

  it.each([
    { what: "as a lost race (412)", again: s3Response(412, "PreconditionFailed") },
    { what: "as an upload that is over (404)", again: s3Response(404, "NoSuchUpload") },
  ])(
    "to the end of a creation in parts, whose repetition S3 sees $what, is no lost race either",
    async ({ again }) => {
      await using world = await brokenConnection();
      const { proxy, store, other } = world;
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
    await using world = await brokenConnection();
    const { proxy, store } = world;
    proxy.fault = ({ method, url }) =>
      method === "POST" && url.includes("uploadId=") ? s3Response(404, "NoSuchUpload") : undefined;

    await expect(store.create("key", large())).rejects.toMatchObject({ code: "STORE_FAILED" });
  });

  it.each(["ours", "theirs"])(
    "is a lost race where another was first, even with the content %j",
    async (content) => {
      await using world = await brokenConnection();
      const { proxy, store, other } = world;
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
    await using world = await brokenConnection();
    const { proxy, store, other } = world;
    proxy.fault = async ({ method, url }) => {
      if (method === "POST" && url.includes("uploadId=")) await other.create("key", bytes("theirs"));
      return undefined;
    };

    expect(await store.create("key", large())).toBeUndefined();
    expect(text(await other.read("key"))).toBe("theirs");
  });

  it("is STORE_FAILED where the maker of the object cannot be found out", async () => {
    await using world = await brokenConnection();
    const { proxy, store } = world;
    proxy.fault = ({ method, index }) =>
      method === "HEAD" ? { status: 403, body: "" } : index === 0 ? "lose-response" : undefined;

    await expect(store.create("key", bytes("ours"))).rejects.toMatchObject({ code: "STORE_FAILED" });
  });
});
