// The changes of each publication, folded from the first on, give exactly `events`.

import fc from "fast-check";
import { expect, test } from "vitest";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { readParts } from "../../../../../lambdas/job/snapshot/files/parts.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { hostileEvents } from "../../../../simulator/hostile-events.ts";
import { makeEvent, makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const POOL = 12;

interface Step {
  /** For each event of the pool: absent, or which of its versions the service shows. */
  readonly versions: readonly (number | undefined)[];
}

/** Versions that differ as values, in ways that matter to a comparison. */
const VERSIONS = [
  (uuid: string) => `{"uuid":"${uuid}","date":"2026-01-01","tags":["a","b"],"n":1}`,
  (uuid: string) => `{"uuid":"${uuid}","date":"2026-01-02","tags":["a","b"],"n":1}`,
  (uuid: string) => `{"uuid":"${uuid}","date":"2026-01-01","tags":["b"],"n":1.0}`,
  (uuid: string) => `{"uuid":"${uuid}","date":null,"n":9007199254740993}`,
  (uuid: string) => `{"uuid":"${uuid}","date":null,"n":9007199254740992,"__proto__":{"a":1}}`,
];

const step: fc.Arbitrary<Step> = fc.record({
  versions: fc.array(fc.option(fc.nat(VERSIONS.length - 1), { nil: undefined, freq: 4 }), {
    minLength: POOL,
    maxLength: POOL,
  }),
});

async function apply(sandbox: Sandbox, { versions }: Step): Promise<void> {
  const events = versions.flatMap((version, index) => {
    const base = makeEvent(index + 1);
    const source = version === undefined ? undefined : VERSIONS[version]?.(base.uuid);
    return source === undefined ? [] : [{ ...base, listing: base.listing, source }];
  });
  sandbox.simulator.setEvents(events);
  await sandbox.run();
}

/** What an analyst would do with the table: start with nothing and apply every row in order. */
async function folded(sandbox: Sandbox): Promise<ReadonlyMap<string, string>> {
  const events = new Map<string, string>();
  for (const line of await sandbox.catalog.changes(ACCOUNT)) {
    const { uuid, change, before, after } = JSON.parse(line);
    expect(events.get(uuid) ?? null).toBe(before);
    expect(change).toBe(before === null ? "added" : after === null ? "removed" : "changed");
    if (after === null) events.delete(uuid);
    else events.set(uuid, after);
  }
  return new Map([...events].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

test("folding the changes of a random history gives the events [D14]", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      await using sandbox = await Sandbox.start({ events: [] }, { maxDropPercent: 100 });

      for (const one of steps) await apply(sandbox, one);

      expect(await folded(sandbox)).toEqual(await sandbox.events());
    }),
    { numRuns: 12 },
  );
});

test("a change of key order alone is no change, because changes compare values [D13]", async () => {
  await using sandbox = await Sandbox.start({ events: [makeEvent(1)] });
  const { uuid } = makeEvent(1);
  sandbox.simulator.change(uuid, { source: `{"uuid":"${uuid}","date":"2026-01-01","n":1}` });
  await sandbox.run();
  sandbox.simulator.change(uuid, { source: `{"n":1, "date":"2026-01-01","uuid":"${uuid}"}` });

  const { row } = await sandbox.run();

  expect(row).toMatchObject({ outcome: "PUBLISHED", changed: 0 });
  expect((await sandbox.events()).get(uuid)).toBe(`{"n":1,"date":"2026-01-01","uuid":"${uuid}"}`);
});

const events = [...makeEvents(30), ...hostileEvents().filter(({ source }) => source.length < 100_000)];

test("the same events give the same lines and the same profile of fields, wherever parts are cut [D6]", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        shuffle: fc.integer(),
        concurrency: fc.integer({ min: 1, max: 40 }),
        rangeEvents: fc.integer({ min: 1, max: 70 }),
        duplicates: fc.nat(10),
        latencies: fc.array(fc.nat(300), { minLength: 1, maxLength: 5 }),
        encoding: fc.constantFrom("gzip" as const, "br" as const, undefined),
        pageSize: fc.integer({ min: 5, max: 100 }),
      }),
      async ({ shuffle, concurrency, rangeEvents, duplicates, latencies, encoding, pageSize }) => {
        const latencyMs = ({ n }: { n: number }): number => latencies[n % latencies.length] ?? 0;
        const list = { shuffle, duplicates, pageSize };
        await using sandbox = await Sandbox.start(
          { events, list, latencyMs, encoding },
          { concurrency, rangeEvents },
        );

        const { row } = await sandbox.run();

        const { parts, fields, fields_complete } = await readManifest(sandbox.own, row.snapshot_id ?? "");
        const prefix = layout(ACCOUNT).snapshot(row.snapshot_id ?? "");
        const lines = await Array.fromAsync(readParts(sandbox.store, prefix, parts));
        seen.add([...lines, JSON.stringify({ fields, fields_complete })].join("\n"));
        expect(seen.size).toBe(1);
      },
    ),
    { numRuns: 8 },
  );
});
