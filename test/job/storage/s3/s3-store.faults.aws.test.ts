// What the store in a bucket does about conflicts and broken connections.

import { expect, it } from "vitest";
import { s3Response } from "../../../aws/aws-proxy.ts";
import { onEmulator } from "../../../aws/emulator.ts";
import { brokenConnection, bytes, large, MIB } from "./broken-connection.ts";

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
