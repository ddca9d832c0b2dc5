import { beforeEach, describe, expect, test } from "vitest";
import { type SampledEvent, sampleEvents } from "../../../../lambdas/job/commands/verify.ts";
import type { Manifest } from "../../../../lambdas/job/snapshot/files/manifest.ts";
import { writeParts } from "../../../../lambdas/job/snapshot/files/parts.ts";
import { rowLine } from "../../../../lambdas/job/snapshot/rows/row.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { seededRandom } from "../../../simulator/seeded-random.ts";
import { aManifest } from "../../snapshot/files/manifests.ts";
import { streamOf } from "../../snapshot/files/streams.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

const ID = "2026-11-21T06-00-00.000Z";
const part = (index: number): string => layout("uk").part(ID, index);

const line = (uuid: string, listing: string): string =>
  rowLine({ uuid, event_date: null, scope: null, event: `{"uuid":"${uuid}"}`, listing });

let store: MemoryStore;
let manifest: Manifest;

/** Five events in three parts. */
beforeEach(async () => {
  store = new MemoryStore();
  const lines = ["a", "b", "c", "d", "e"].map((uuid) => line(uuid, `{"uuid":"${uuid}"}`));
  const maxBytes = 2 * ((lines[0]?.length ?? 0) + 1);
  const parts = await writeParts({ store, key: part, lines: streamOf(...lines), maxBytes });
  manifest = aManifest({ snapshot_id: ID, parts: [...parts], counts: { ...aManifest().counts, events: 5 } });
});

async function sample(size: number, next = seededRandom(1), of = manifest): Promise<readonly SampledEvent[]> {
  const found = sampleEvents(accountStore(store, "uk"), of, {
    size,
    random: { next },
    proceed: () => undefined,
  });
  return (await Array.fromAsync(found)).flat();
}

const uuids = (events: readonly SampledEvent[]): string => events.map(({ uuid }) => uuid).join("");

describe("a sample", () => {
  test("is every pair of five events equally often, over the parts", async () => {
    const next = seededRandom(7);
    const counts = new Map<string, number>();
    for (let draw = 0; draw < 2_000; draw += 1) {
      const pair = uuids(await sample(2, next));
      counts.set(pair, (counts.get(pair) ?? 0) + 1);
    }

    expect([...counts.keys()].sort()).toEqual(["ab", "ac", "ad", "ae", "bc", "bd", "be", "cd", "ce", "de"]);
    // 200 each are expected, with a standard deviation of 13.
    for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(55);
  });

  test.each([5, 6, 10_000])("of %i is all five", async (size) => {
    expect(uuids(await sample(size))).toBe("abcde");
  });

  test("of nothing is empty", async () => {
    const empty = aManifest({ parts: [], counts: { ...aManifest().counts, events: 0 } });

    expect(await sample(3, seededRandom(1), empty)).toEqual([]);
  });

  test("has nothing of a part that is damaged, and fails", async () => {
    store.put(part(1), store.text(part(0)) ?? "");
    const found = sampleEvents(accountStore(store, "uk"), manifest, {
      size: 5,
      random: { next: () => 0 },
      proceed: () => undefined,
    });

    const first = await found.next();
    const second = found.next();

    expect(uuids(first.value ?? [])).toBe("ab");
    await expect(second).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringContaining(part(1)),
    });
  });

  test("stops where it is told to, in the middle of a part", async () => {
    let rows = 0;
    const proceed = (): void => {
      rows += 1;
      if (rows === 2) throw new Error("stop");
    };

    const found = sampleEvents(accountStore(store, "uk"), manifest, {
      size: 5,
      random: { next: () => 0 },
      proceed,
    });

    await expect(found.next()).rejects.toThrow("stop");
  });

  test("asks for an event in the spelling of the list", async () => {
    const lines = [
      line("ab", '{"uuid":"AB"}'),
      line("cd", '{"name":"keyed by uuid"}'),
      line("ef", '{"uuid":null}'),
    ];
    store = new MemoryStore();
    const parts = await writeParts({
      store,
      key: part,
      lines: streamOf(...lines),
    });
    const listed = aManifest({
      snapshot_id: ID,
      parts: [...parts],
      counts: { ...aManifest().counts, events: 3 },
    });

    const events = await sample(3, seededRandom(1), listed);

    expect(events.map(({ requestAs }) => requestAs)).toEqual(["AB", "cd", "ef"]);
  });
});
