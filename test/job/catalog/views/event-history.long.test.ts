// The versions of an event, compared with a model that keeps every snapshot whole and looks at each uuid in turn.

import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENT_HISTORY } from "../../../../lambdas/job/catalog/catalog.ts";

/** The events of a snapshot: uuid and text. */
type Snapshot = ReadonlyMap<string, string>;

interface Publication {
  readonly snapshotId: string;
  readonly publishedAt: string;
  readonly snapshot: Snapshot;
  /** The number of the publication that the changes are found against; -1 for none. */
  readonly base: number;
}

type Edits = readonly (readonly [uuid: string, text: string | null])[];

/** What happens next, by numbers that fit however the history went so far. */
type Step =
  | { readonly kind: "run"; readonly edits: Edits }
  | { readonly kind: "rollback"; readonly to: number }
  | { readonly kind: "pin" }
  /** So many of the newest snapshots are damaged, the head among them, which is published over. */
  | { readonly kind: "damaged"; readonly back: number; readonly edits: Edits }
  /** All damaged ones but so many are restored. */
  | { readonly kind: "restored"; readonly but: number }
  /** The changes of a publication are lost, and a person says so. */
  | { readonly kind: "lost"; readonly back: number };

const UUIDS = ["a", "b", "c"];
const edits = fc.array(
  fc.tuple(fc.constantFrom(...UUIDS), fc.option(fc.constantFrom("one", "two", "three"))),
  { maxLength: 4 },
);
const USUAL: readonly fc.WeightedArbitrary<Step>[] = [
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("run" as const), edits }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rollback" as const), to: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pin" as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("damaged" as const), back: fc.nat(3), edits }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("restored" as const), but: fc.nat(2) }) },
];
const step: fc.Arbitrary<Step> = fc.oneof(...USUAL);
const stepOrLoss: fc.Arbitrary<Step> = fc.oneof(...USUAL, {
  weight: 1,
  arbitrary: fc.record({ kind: fc.constant("lost" as const), back: fc.nat(5) }),
});

interface History {
  readonly publications: readonly Publication[];
  /** The numbers of the publications whose changes are lost. */
  readonly lost: ReadonlySet<number>;
}

/**
 * In the order of the publications. Clocks go forwards and backwards. The changes of the next publication are found
 * against the head, or, where that is damaged or changes that led to it are lost, against the newest one on its chain
 * that is neither.
 */
function historyOf(steps: readonly Step[]): History {
  const history: Publication[] = [];
  const damaged = new Set<string>();
  const lost = new Set<number>();
  const isWhole = ({ snapshotId }: Publication): boolean => !damaged.has(snapshotId);
  const isNewest = (at: number): boolean =>
    history.findLastIndex(({ snapshotId }) => snapshotId === history[at]?.snapshotId) === at;
  const nextBase = (): number => {
    const chain = chainOf(history, history.length - 1);
    const below = chain.slice(chain.findLastIndex((at) => lost.has(at)) + 1);
    return below.find((at) => !damaged.has(history[at]?.snapshotId ?? "") && isNewest(at)) ?? -1;
  };
  for (const [index, next] of steps.entries()) {
    const head = history.at(-1);
    const made = { snapshotId: `s${index}`, publishedAt: `at ${(index * 7) % 5}` };
    if (next.kind === "restored") {
      for (const snapshotId of [...damaged].slice(next.but)) damaged.delete(snapshotId);
    } else if (next.kind === "lost") {
      if (history.length > next.back) lost.add(history.length - 1 - next.back);
    } else if (next.kind === "rollback" && head) {
      const whole = history.filter(isWhole);
      const { snapshotId, snapshot } = whole[next.to % whole.length] ?? head;
      history.push({ ...made, snapshotId, snapshot, base: nextBase() });
    } else if (next.kind === "pin" && head) {
      history.push({ ...head, publishedAt: made.publishedAt, base: nextBase() });
    } else {
      if (next.kind === "damaged") {
        const newest = new Set(history.filter(isWhole).map(({ snapshotId }) => snapshotId));
        for (const snapshotId of [...newest].slice(-1 - next.back)) damaged.add(snapshotId);
        if (head) damaged.add(head.snapshotId);
      }
      const changes = "edits" in next ? next.edits : [];
      const snapshot = new Map(head?.snapshot);
      for (const [uuid, text] of changes) {
        if (text === null) snapshot.delete(uuid);
        else snapshot.set(uuid, text);
      }
      history.push({ ...made, snapshot, base: nextBase() });
    }
  }
  return { publications: history, lost };
}

/** A publication, the one that its changes are found against, and so on. */
function chainOf(history: readonly Publication[], from: number): readonly number[] {
  const chain: number[] = [];
  for (let at = from; at >= 0; at = history[at]?.base ?? -1) chain.push(at);
  return chain;
}

const id = (index: number): string => String(index + 1).padStart(10, "0");

interface Rows {
  readonly publications: readonly object[];
  readonly changes: readonly object[];
}

function rowsOf(account: string, { publications: history, lost }: History): Rows {
  const publications = history.map(({ snapshotId, publishedAt, base }, index) => ({
    account,
    publication: id(index),
    snapshot_id: snapshotId,
    base_snapshot_id: history[base]?.snapshotId ?? null,
    published_at: publishedAt,
  }));
  const changes = history.flatMap(({ snapshot, base }, index) =>
    UUIDS.flatMap((uuid) => {
      const before = history[base]?.snapshot.get(uuid) ?? null;
      const after = snapshot.get(uuid) ?? null;
      return before === after || lost.has(index)
        ? []
        : [{ account, publication: id(index), uuid, before, after }];
    }),
  );
  return { publications, changes };
}

/** The rows of the view: one a version, by the order of the publications; a removal begins one that is deleted; a pin alone is none. */
function versionsOf(account: string, { publications: history }: History): readonly (readonly unknown[])[] {
  return UUIDS.flatMap((uuid) => {
    const versions: (readonly [index: number, event: string | null])[] = [];
    for (const [index, { snapshot }] of history.entries()) {
      const event = snapshot.get(uuid) ?? null;
      const last = versions.at(-1);
      if (last === undefined ? event !== null : event !== last[1]) versions.push([index, event]);
    }
    return versions.map(([index, event], place) => {
      const next = versions[place + 1];
      const to = next === undefined ? null : history[next[0]]?.publishedAt;
      return [account, uuid, history[index]?.publishedAt, to, event === null, id(index), event];
    });
  });
}

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(":memory:")).connect();
});

async function viewOf({ publications, changes }: Rows): Promise<readonly (readonly unknown[])[]> {
  const rows = (columns: readonly string[], parameter: string): string =>
    `SELECT unnest(from_json(${parameter}, '[{${columns.map((each) => `"${each}": "VARCHAR"`).join(", ")}}]'), recursive := true)`;
  const logged = ["account", "publication", "snapshot_id", "base_snapshot_id", "published_at"];
  const changed = ["account", "publication", "uuid", "before", "after"];
  const read = await connection.runAndReadAll(
    `WITH publications AS (${rows(logged, "$1")}), event_changes AS (${rows(changed, "$2")})
     FROM (${EVENT_HISTORY.query}) ORDER BY account, uuid, publication_from`,
    [JSON.stringify(publications), JSON.stringify(changes)],
  );
  return read.getRowsJson();
}

describe("event_history", () => {
  it("has what the base had, also where that was undone itself, as earlier versions have published it", async () => {
    // The second snapshot is damaged, the third is over it on the first; the second is restored, the third is damaged, and
    // the fourth is over that on the second: it has one event of the second as it was, and one that it changes.
    const made = (snapshotId: string, base: number, ...events: readonly (readonly [string, string])[]) => ({
      snapshotId,
      publishedAt: `at ${snapshotId}`,
      snapshot: new Map(events),
      base,
    });
    const publications = [
      made("s1", -1, ["a", "one"]),
      made("s2", 0, ["a", "two"], ["b", "one"], ["c", "one"]),
      made("s3", 0, ["a", "three"]),
      made("s4", 1, ["a", "two"], ["b", "two"], ["c", "one"]),
    ];
    const history = { publications, lost: new Set<number>() };

    const rows = await viewOf(rowsOf("uk", history));

    expect(rows.map(([, uuid, , , , publication, event]) => [uuid, Number(publication), event])).toEqual([
      ["a", 1, "one"],
      ["a", 2, "two"],
      ["a", 3, "three"],
      ["a", 4, "two"],
      ["b", 2, "one"],
      ["b", 3, null],
      ["b", 4, "two"],
      ["c", 2, "one"],
      ["c", 3, null],
      ["c", 4, "one"],
    ]);
  });

  it("is what the model says, for any history of two accounts", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
        fc.array(step, { maxLength: 8 }),
        async (de, uk) => {
          const histories = Object.entries({ de, uk }).map(
            ([account, steps]) => [account, historyOf(steps)] as const,
          );
          const rows = histories.map(([account, history]) => rowsOf(account, history));

          const found = await viewOf({
            publications: rows.flatMap(({ publications }) => publications),
            changes: rows.flatMap(({ changes }) => changes),
          });

          expect(found).toEqual(histories.flatMap(([account, history]) => versionsOf(account, history)));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is right again from the publication after the one whose changes are lost, for any history", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(stepOrLoss, { minLength: 5, maxLength: 30, size: "max" }), async (steps) => {
        const history = historyOf(steps);

        const versions = await viewOf(rowsOf("uk", history));

        for (const [index, { snapshot }] of history.publications.entries()) {
          if (chainOf(history.publications, index).some((at) => history.lost.has(at))) continue;
          const shown = new Map(
            versions
              .filter(([, , , , , from]) => String(from) <= id(index))
              .map(([, uuid, , , , , event]) => [uuid, event]),
          );
          expect(new Map([...shown].filter(([, event]) => event !== null))).toEqual(
            new Map([...snapshot].toSorted()),
          );
        }
      }),
      { numRuns: 40 },
    );
  });
});
