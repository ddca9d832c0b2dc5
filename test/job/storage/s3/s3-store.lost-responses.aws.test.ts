// What the store in a bucket does when responses are lost, on a connection that a test breaks.

import { expect, it } from "vitest";
import { s3Response } from "../../../aws/aws-proxy.ts";
import { onEmulator } from "../../../aws/emulator.ts";
import { brokenConnection, bytes, large, text } from "./broken-connection.ts";

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
