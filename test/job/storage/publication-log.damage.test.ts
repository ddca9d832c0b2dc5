// A damaged publication log is refused by name, and its content is never repeated.

import { describe, expect, it } from "vitest";
import { accountsIn } from "../../../lambdas/job/storage/known-accounts.ts";
import { newestReadable, readHead, readLog } from "../../../lambdas/job/storage/publication-log.ts";
import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import { MemoryStore } from "./memory-store.ts";
import { aPublication, FIRST, logOf, SECOND, uk } from "./publications.ts";

describe("a damaged publication log", () => {
  const LINE = `${JSON.stringify(SECOND)}\n`;

  it.each([
    ["cut off", LINE.slice(0, 100)],
    ["without its newline", LINE.trimEnd()],
    ["empty", ""],
    ["of two lines", LINE + LINE],
    ["with a blank line", `${LINE}\n`],
    ["of binary bytes", new Uint8Array([0xff, 0xfe, 0x0a])],
    ["with a byte that is no UTF-8", Buffer.from(LINE.replace("write-2", "write-\xff"), "latin1")],
    ["of another kind", '{"secret":"canary"}\n'],
    ["with a number as text", LINE.replace('"events":3', '"events":"3"')],
    ["with a snapshot outside the warehouse", LINE.replace(SECOND.snapshot_id, "../../etc")],
    ["with the number of another", LINE.replace("0000000002", "0000000007")],
  ])("is STORE_CORRUPT, named and not quoted, for a file %s", async (_, content) => {
    const store = await logOf(FIRST);
    store.put("publications/uk/0000000002.ndjson", content);

    for (const read of [readLog, readHead]) {
      const error: unknown = await read(uk(store)).catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({
        code: "STORE_CORRUPT",
        fields: { key: "publications/uk/0000000002.ndjson" },
        message: expect.stringMatching(
          /publications\/uk\/0000000002\.ndjson is damaged.*Restore this file from a backup/,
        ),
      });
      expect(`${error}`).not.toContain("canary");
      expect(error).not.toHaveProperty("cause");
    }
  });

  it.each([
    ["0000000001", ["0000000002"], "If the account was to be removed, start remove again."],
    ["0000000002", ["0000000001", "0000000003"], "exists. Restore this file"],
  ])("is STORE_CORRUPT where %s is missing, with the remedy", async (missing, present, remedy) => {
    const store = new MemoryStore();
    for (const id of present) {
      store.put(`publications/uk/${id}.ndjson`, `${JSON.stringify(aPublication({ publication: id }))}\n`);
    }

    for (const read of [readLog, readHead]) {
      await expect(read(uk(store))).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        fields: { key: `publications/uk/${missing}.ndjson` },
        message: expect.stringContaining(remedy),
      });
    }
  });

  it.each(["0000000001.ndjson.bak", "0000000001 (1).ndjson", "1.ndjson", "old/0000000001.ndjson"])(
    "is read without a file that is no publication, such as %s",
    async (name) => {
      const store = await logOf(FIRST);
      store.put(`publications/uk/${name}`, LINE);

      expect(await readLog(uk(store))).toEqual([FIRST]);
      expect(await readHead(uk(store))).toEqual(FIRST);
    },
  );

  it.each(["UK", "uk copy", "-uk"])("is none in a folder that no account has, such as %s", async (name) => {
    const store = await logOf(FIRST);
    store.put(`publications/${name}/0000000001.ndjson`, LINE);
    store.put("publications/notes.txt", "ours");

    expect(await accountsIn(store, "publications/")).toEqual(["uk"]);
  });

  it("reads only the newest file for the head", async () => {
    const store = await logOf(FIRST, SECOND);
    store.put("publications/uk/0000000001.ndjson", "damaged");

    expect(await readHead(uk(store))).toEqual(SECOND);
  });

  it("gives what can be read beside it, newest first, but hides no other failure", async () => {
    const store = await logOf(FIRST, SECOND);
    store.put("publications/uk/0000000003.ndjson", "damaged");
    const failing = { ...uk(store), read: () => Promise.reject(new Error("no disk")) };

    expect(await Array.fromAsync(newestReadable(uk(store)))).toEqual([SECOND, FIRST]);
    await expect(Array.fromAsync(newestReadable(failing))).rejects.toThrow("no disk");
  });

  it.each([
    ["is gone", async (store: MemoryStore, key: string) => store.delete(key)],
    ["cannot be read", async () => undefined],
  ])("is STORE_CORRUPT where a publication that was listed %s", async (_, happens) => {
    const store = await logOf(FIRST, SECOND);
    const key = "publications/uk/0000000002.ndjson";
    const unread: AccountStore = {
      ...uk(store),
      read: async (asked) => {
        if (asked !== key) return store.read(asked);
        await happens(store, key);
        return undefined;
      },
    };

    await expect(readLog(unread)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      fields: { key },
      message: expect.stringContaining("it was listed but no longer exists"),
    });
  });

  it("names what is missing also where nothing after it can be read", async () => {
    const store = await logOf(FIRST);
    store.put("publications/uk/0000000003.ndjson", "unread");
    const unread = { ...uk(store), read: async () => undefined };

    await expect(readHead(unread)).rejects.toMatchObject({
      fields: { key: "publications/uk/0000000002.ndjson" },
    });
  });
});
