// What is staged of a plan: read, added to and verified, by the process that wrote it or another one.

import { randomBytes } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { Chain } from "../../../../lambdas/job/snapshot/staging/chain.ts";
import type { Plan } from "../../../../lambdas/job/snapshot/staging/plan.ts";
import { accountStore, type Store } from "../../../../lambdas/job/storage/store.ts";
import { toldBy } from "../../../words/said.ts";
import { interposed } from "../../run/interposed-store.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { uk } from "../../storage/publications.ts";
import { filesOf, makePlan, putRange, recordKey, rowAt, rowsKey, uuidAt, writeRange } from "./planned.ts";

const EVENTS = 10;
const START_AGAIN = "Start again: a new run begins, and fetches its events again.";

let store: MemoryStore;
let plan: Plan;

beforeEach(async () => {
  store = new MemoryStore();
  plan = await makePlan(store, EVENTS);
});

const read = async (): Promise<Chain> => Chain.read(uk(store), plan, await filesOf(store));

const damage = (key: string, problem: string): object => ({
  code: "STORE_CORRUPT",
  message: `The file ${key} is damaged: ${problem}. ${START_AGAIN}`,
});

/** Changes what stands in a record. */
function changeRecord(place: number, change: Readonly<Record<string, unknown>>): void {
  const record: object = JSON.parse(store.text(recordKey(place)) ?? "");
  store.put(recordKey(place), JSON.stringify({ ...record, ...change }));
}

describe("a chain", () => {
  it("begins with nothing", async () => {
    const begun = new Chain(uk(store), plan);
    const found = await read();

    for (const chain of [begun, found]) {
      expect(chain.records).toEqual([]);
      expect(chain.end).toBe(0);
      expect(chain.isComplete).toBe(false);
    }
  });

  it("is read in the order of the plan, across more records than are read at once", async () => {
    const long = await makePlan(new MemoryStore(), 40);
    for (let place = 0; place < 40; place += 2)
      putRange(store, long, place, place + 2, { gone: place === 4 ? [4, 5] : [] });

    const chain = await Chain.read(uk(store), long, await filesOf(store));

    expect(chain.records.map(({ place, end }) => [place, end])).toEqual(
      Array.from({ length: 20 }, (_, n) => [n * 2, n * 2 + 2]),
    );
    expect(chain.records[2]?.rows).toBeNull();
    expect(chain.isComplete).toBe(true);
  });

  it("ends before a hole between records: what lies behind belongs to no chain", async () => {
    putRange(store, plan, 0, 3);
    putRange(store, plan, 5, 10);

    expect((await read()).end).toBe(3);
  });

  it.each([
    ["is not JSON", () => store.put(recordKey(0), "{"), undefined],
    ["lacks a key", () => changeRecord(0, { left_out: undefined }), undefined],
    ["does not add up", () => changeRecord(0, { end: 4 }), undefined],
    ["points elsewhere", () => changeRecord(0, { rows: { file: "../x" } }), undefined],
    ["is of another plan", () => changeRecord(0, { plan: "0".repeat(64) }), "it belongs to another plan"],
    ["is of another place", () => changeRecord(0, { place: 1, end: 4 }), "it names another place"],
    ["ends behind the plan", () => putRange(store, plan, 0, 11), "it ends behind the plan"],
  ])("is refused where a record %s", async (_, break_, problem) => {
    putRange(store, plan, 0, 3);
    break_();

    const reading = read();

    expect(await toldBy(reading)).toMatchObject(
      problem === undefined
        ? { code: "STORE_CORRUPT", message: expect.stringContaining(recordKey(0)) }
        : damage(recordKey(0), problem),
    );
  });

  it.each([
    ["is gone", () => store.delete([rowsKey(3)]), "it is missing"],
    ["has another size", () => store.put(rowsKey(3), "short"), "it has another size than its record says"],
  ])("is refused where a file of rows %s", async (_, break_, problem) => {
    putRange(store, plan, 0, 3);
    putRange(store, plan, 3, 6);
    await break_();

    expect(await toldBy(read())).toMatchObject(damage(rowsKey(3), problem));
  });
});

describe("adding a range", () => {
  it("creates its record at the end of the chain", async () => {
    const chain = new Chain(uk(store), plan);

    expect(await chain.add(writeRange(store, 0, 3))).toBe(true);
    expect(await chain.add(writeRange(store, 3, 5, { gone: [3, 4] }))).toBe(true);

    expect(chain.end).toBe(5);
    expect((await read()).records).toEqual(chain.records);
  });

  it("takes its own record, whose answer was lost, as its own", async () => {
    const chain = new Chain(uk(store), plan);
    putRange(store, plan, 0, 3, { gone: [1] });

    expect(await chain.add(writeRange(store, 0, 3, { gone: [1] }))).toBe(true);

    expect(chain.end).toBe(3);
    expect(chain.records).toHaveLength(1);
  });

  it.each([
    ["shorter", [2]],
    ["as long, of other rows", [5]],
    ["longer", [9]],
    ["several", [2, 6, 10]],
  ])("loses the race to another process whose range is %s, and goes on at its end", async (_, ends) => {
    const chain = new Chain(uk(store), plan);
    const own = writeRange(store, 0, 5);
    const others = ends.map((end, n) => ({ place: ends[n - 1] ?? 0, end }));
    for (const { place, end } of others) putRange(store, plan, place, end, { gone: [place] });

    expect(await chain.add(own)).toBe(false);

    expect(chain.records.map(({ place, end }) => ({ place, end }))).toEqual(others);
    expect(chain.end).toBe(ends.at(-1));
    expect(store.text(recordKey(0))).not.toContain(String(own.rows?.sha256));
  });

  it("is refused where the record that stands there is damaged", async () => {
    const chain = new Chain(uk(store), plan);
    putRange(store, plan, 0, 5);
    changeRecord(0, { plan: "0".repeat(64) });

    expect(await toldBy(chain.add(writeRange(store, 0, 5)))).toMatchObject(
      damage(recordKey(0), "it belongs to another plan"),
    );
  });
});

describe("verifying a range", () => {
  /** The rows that are read. */
  async function verify(place = 0, found?: Chain): Promise<readonly string[]> {
    const chain = found ?? (await read());
    const record = chain.records.find((each) => each.place === place);
    if (record === undefined) throw new Error(`there is no record at ${place}`);
    const rows: string[] = [];
    await chain.verify(record, (line) => rows.push(line));
    return rows;
  }

  it("gives each row, in order", async () => {
    putRange(store, plan, 0, 2);
    putRange(store, plan, 2, 6, { gone: [2, 4] });

    expect(await verify(2)).toEqual([rowAt(3), rowAt(5)]);
  });

  it("reads nothing of a range without rows, and knows its events", async () => {
    putRange(store, plan, 0, 2, { gone: [0, 1] });

    expect(await verify()).toEqual([]);
  });

  it.each([
    ["a row is missing", { lines: [rowAt(0), rowAt(1)] }],
    ["there is one row too many", { lines: [0, 1, 2, 3].map(rowAt) }],
    ["a row is another event's", { lines: [rowAt(0), rowAt(1), rowAt(3)] }],
    ["rows have another order", { lines: [rowAt(1), rowAt(0), rowAt(2)] }],
    ["a line is no row", { lines: [rowAt(0), "{}", rowAt(2)] }],
  ])("is refused where %s, whatever its checksums", async (_, range) => {
    putRange(store, plan, 0, 3, range);

    expect(await toldBy(verify())).toMatchObject(damage(rowsKey(0), "its events are not those of the plan"));
  });

  it.each([
    ["in a range with rows", [1], rowsKey(0), {}],
    ["in a range with a row of each event", [1], rowsKey(0), { lines: [0, 1, 2].map(rowAt) }],
    ["in a range without rows", [0, 1, 2], recordKey(0), {}],
  ])("is refused where an event is left out that it does not cover, %s", async (_, gone, key, lines) => {
    putRange(store, plan, 0, 3, { gone, ...lines });
    const left_out = gone.map((place) => ({ uuid: uuidAt(place + 5), reason: "gone" }));
    changeRecord(0, { left_out });

    expect(await toldBy(verify())).toMatchObject(damage(key, "its events are not those of the plan"));
  });

  it("is refused where a row's content has changed and its size has not", async () => {
    putRange(store, plan, 0, 3);
    const before = (await store.read(rowsKey(0)))?.bytes ?? new Uint8Array();
    // Another instant in the header of the compressed file, the same lines.
    store.put(
      rowsKey(0),
      before.map((byte, index) => (index === 4 ? byte ^ 1 : byte)),
    );

    expect(await toldBy(verify())).toMatchObject(
      damage(rowsKey(0), "its checksum is not the one in its record"),
    );
  });

  it("is refused where the file's checksum is right and that of its rows is not", async () => {
    putRange(store, plan, 0, 3);
    const { rows } = JSON.parse(store.text(recordKey(0)) ?? "");
    changeRecord(0, { rows: { ...rows, sha256: "0".repeat(64) } });

    expect(await toldBy(verify())).toMatchObject(
      damage(rowsKey(0), "its checksum is not the one in its record"),
    );
  });

  it("is refused where the file goes away after it was listed", async () => {
    putRange(store, plan, 0, 3);
    const chain = await read();
    await store.delete([rowsKey(0)]);

    expect(await toldBy(verify(0, chain))).toMatchObject(damage(rowsKey(0), "it is missing"));
  });

  it("closes a file whose row is refused, however much of it is left", async () => {
    const long = rowAt(1).replace('"{}"', `"${randomBytes(2_000_000).toString("hex")}"`);
    putRange(store, plan, 0, 3, { lines: [rowAt(2), rowAt(0), long] });
    const bytes = (await store.read(rowsKey(0)))?.bytes ?? new Uint8Array();
    let isClosed = false;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      try {
        for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000);
      } finally {
        isClosed = true;
      }
    }
    const open: Store["open"] = async () => chunks();
    const ofChunks = accountStore({ ...interposed(store), open }, "uk");

    const reading = verify(0, await Chain.read(ofChunks, plan, await filesOf(store)));

    await expect(reading).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await expect.poll(() => isClosed).toBe(true);
  });

  it("is refused where the file is cut, or is no compressed file", async () => {
    putRange(store, plan, 0, 3);
    const whole = Buffer.from((await store.read(rowsKey(0)))?.bytes ?? []);
    const text = gunzipSync(whole).toString();
    for (const bytes of [
      Buffer.concat([whole.subarray(0, -9), Buffer.alloc(9)]),
      Buffer.alloc(whole.length),
    ]) {
      store.put(rowsKey(0), bytes);
      await expect(verify()).rejects.toMatchObject({
        code: "STORE_CORRUPT",
        message: expect.stringContaining(rowsKey(0)),
      });
    }
    store.put(rowsKey(0), gzipSync(text));
    expect(await verify()).toHaveLength(3);
  });
});
