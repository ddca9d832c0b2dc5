// Columns of one's own, from the service to the warehouse.

import { expect, test } from "vitest";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { readParts } from "../../../../../lambdas/job/snapshot/files/parts.ts";
import { lifter, parseLiftedColumns } from "../../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { readColumns } from "../../../../../lambdas/job/snapshot/rows/table-columns.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { hostileEvents } from "../../../../simulator/hostile-events.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { customEvent } from "../../custom-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const lifted = (...texts: readonly string[]): { lifted: ReturnType<typeof parseLiftedColumns> } => ({
  lifted: parseLiftedColumns(texts),
});

type AnyRow = Readonly<Record<string, string | null>>;

async function rowsOf(sandbox: Sandbox, snapshotId: string | null): Promise<readonly AnyRow[]> {
  const { parts } = await readManifest(accountStore(sandbox.store, ACCOUNT), snapshotId ?? "");
  const lines = readParts(sandbox.store, layout(ACCOUNT).snapshot(snapshotId ?? ""), parts);
  return Array.fromAsync(lines, (line) => JSON.parse(line));
}

test("lifted columns follow the others in the rows, with numbers as they were, and are in the manifest", async () => {
  const events = [customEvent("x", '"n": 1.10 ,"big":{"value":1e400}')];
  await using sandbox = await Sandbox.start(
    { events },
    lifted("n=/n", "big=/big/value", "none=/x", "a=/big"),
  );

  const { row } = await sandbox.run();

  const [first = {}] = await rowsOf(sandbox, row.snapshot_id);
  expect(Object.entries(first).slice(5)).toEqual([
    ["n", "1.10"],
    ["big", "1e400"],
    ["none", null],
    ["a", '{"value":1e400}'],
  ]);
  const manifest = await readManifest(accountStore(sandbox.store, ACCOUNT), row.snapshot_id ?? "");
  expect(Object.keys(first)).toEqual(manifest.columns);
  expect(manifest.lifted).toEqual([
    { name: "n", pointer: "/n" },
    { name: "big", pointer: "/big/value" },
    { name: "none", pointer: "/x" },
    { name: "a", pointer: "/big" },
  ]);
  expect(manifest).toMatchObject({
    fields_complete: true,
    fields: [
      { pointer: "/big", count: 1, types: { object: 1 } },
      { pointer: "/big/value", count: 1, types: { number: 1 } },
      { pointer: "/n", count: 1, types: { number: 1 } },
      { pointer: "/uuid", count: 1, types: { string: 1 } },
    ],
  });
});

test("a column that is added later is no change of the events", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(5) });
  await sandbox.run();
  sandbox.settings = { ...sandbox.settings, ...lifted("name=/name") };

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
  expect((await readColumns(sandbox.store)).map(({ name }) => name)).toEqual(["name"]);
});

test.each([
  { what: "without a column", start: {}, settings: lifted("b=/b") },
  { what: "in another order", start: {}, settings: lifted("b=/b", "a=/a") },
  {
    what: "dry, in another order",
    start: { dryRun: { limit: undefined } },
    settings: lifted("b=/b", "a=/a"),
  },
  { what: "of another account", start: {}, account: "de", settings: lifted("c=/c") },
])("a run $what is refused before any request; the next one with all columns is not", async (one) => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) }, lifted("a=/a", "b=/b"));
  const before = sandbox.settings;
  await sandbox.run();
  sandbox.simulator.reset();
  sandbox.account = one.account ?? ACCOUNT;
  sandbox.settings = { ...before, ...one.settings };

  const refused = await sandbox.run(one.start);
  const requests = sandbox.simulator.requests.length;
  sandbox.settings = { ...sandbox.settings, lifted: [...before.lifted, { name: "z", pointer: "/z" }] };
  const next = await sandbox.run(one.start);

  expect(refused.row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID", requests: null });
  expect(refused.row.error_message).toContain("Give --lift a=");
  expect(requests).toBe(0);
  expect(next.row.error_code).toBeNull();
});

test("a run is refused at its end when another account has published other columns meanwhile", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) }, lifted("a=/a"));
  const mine = sandbox.settings;
  const ports = sandbox.ports();
  const meanwhile = async (): Promise<void> => {
    sandbox.account = "de";
    sandbox.settings = { ...mine, ...lifted("b=/b") };
    expect((await sandbox.run()).row.outcome).toBe("PUBLISHED");
    sandbox.account = ACCOUNT;
    sandbox.settings = mine;
  };

  const { row } = await sandbox.run(
    {},
    {
      openService: async (rateLimiter) => {
        await meanwhile();
        return ports.openService(rateLimiter);
      },
    },
  );

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID" });
  expect(row.error_message).toContain("The tables have the columns b, and this run has a.");
  expect(await sandbox.events()).toEqual(new Map());
});

test("staged work under another pointer is not resumed", async () => {
  await using sandbox = await Sandbox.start(
    { events: makeEvents(20) },
    { rangeEvents: 5, ...lifted("n=/name") },
  );
  const stop = new AbortController();
  const stopped = sandbox.run(
    {},
    { signal: stop.signal, onProgress: ({ done }) => done === 12 && stop.abort(new Error("enough")) },
  );
  await expect(stopped).rejects.toThrow("enough");
  sandbox.simulator.reset();
  sandbox.settings = { ...sandbox.settings, ...lifted("n=/date") };

  const { row } = await sandbox.run();

  expect(row.outcome).toBe("PUBLISHED");
  expect(sandbox.simulator.counts.details).toBe(20);
});

test("hostile values are lifted as the events hold them", async () => {
  const events = hostileEvents();
  const { lifted: columns } = lifted(
    "reach=/reach",
    "text=/text",
    "date=/date",
    "deep=/deep",
    "proto=/__proto__",
  );
  await using sandbox = await Sandbox.start({ events }, { lifted: columns });

  const { row } = await sandbox.run();

  const rows = await rowsOf(sandbox, row.snapshot_id);
  const of = (name: string): AnyRow | undefined =>
    rows.find(({ uuid }) => uuid === events.find((one) => one.name === name)?.uuid);
  expect(of("an integer beyond 2^53")?.["reach"]).toBe("9007199254740993");
  expect(of("a number beyond the range of doubles")?.["reach"]).toBe("1e400");
  expect(of("a number with a trailing zero")?.["reach"]).toBe("1.10");
  expect(of("minus zero")?.["reach"]).toBe("-0");
  expect(of("thirty digits")?.["reach"]).toBe("123456789012345678901234567890.10");
  expect(of("a lone surrogate escape")?.["text"]).toBe(String.raw`"a\ud800b"`);
  expect(of("line separators in a text and in a key")?.["text"]).toBe("a\u2028b\u2029c\u0085d");
  expect(of("a NUL escape")?.["text"]).toBe("a\u0000b");
  expect(of("duplicate keys")?.["date"]).toBe("2026-01-02");
  expect(of("escaped key names")?.["date"]).toBe("2026-01-01");
  expect(of("a __proto__ key")?.["proto"]).toBe('{"polluted":true}');
  expect(of("a depth of 300")?.["deep"]).toHaveLength(1_201);
  const lift = lifter(columns);
  for (const { uuid, event, ...rest } of rows) expect(rest, String(uuid)).toMatchObject(lift(String(event)));
});
