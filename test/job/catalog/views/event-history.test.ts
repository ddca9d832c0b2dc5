// The versions of an event, compared with a model that keeps every snapshot whole and looks at each uuid in turn.

import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { EVENT_HISTORY_SQL } from "../../../../lambdas/job/catalog/views/event-history.ts";

/** The events of a snapshot: uuid and text. */
type Snapshot = ReadonlyMap<string, string>;

interface Publication {
  readonly snapshotId: string;
  readonly publishedAt: string;
  readonly snapshot: Snapshot;
  /** The number of the publication that the changes are found against; -1 for none. */
  readonly base: number;
}

/** What happens next, by numbers that fit however the history went so far. */
type Step =
  | { readonly kind: "run"; readonly edits: readonly (readonly [uuid: string, text: string | null])[] }
  | { readonly kind: "rollback"; readonly to: number }
  | { readonly kind: "pin" }
  | {
      readonly kind: "damaged";
      readonly back: number;
      readonly edits: readonly (readonly [uuid: string, text: string | null])[];
    };

const UUIDS = ["a", "b", "c"];
const edits = fc.array(
  fc.tuple(fc.constantFrom(...UUIDS), fc.option(fc.constantFrom("one", "two", "three"))),
  { maxLength: 4 },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("run" as const), edits }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("rollback" as const), to: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pin" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("damaged" as const), back: fc.nat(3), edits }),
  },
);

/**
 * In the order of the publications. Clocks go forwards and backwards. What is damaged stays so; changes are found
 * against the newest publication that is whole, if there is one.
 */
function historyOf(steps: readonly Step[]): readonly Publication[] {
  const history: Publication[] = [];
  const damaged = new Set<string>();
  const isWhole = ({ snapshotId }: Publication): boolean => !damaged.has(snapshotId);
  for (const [index, next] of steps.entries()) {
    const head = history.at(-1);
    const made = { snapshotId: `s${index}`, publishedAt: `at ${(index * 7) % 5}` };
    if (next.kind === "rollback" && head) {
      const whole = history.filter(isWhole);
      const { snapshotId, snapshot } = whole[next.to % whole.length] ?? head;
      history.push({ ...made, snapshotId, snapshot, base: index - 1 });
    } else if (next.kind === "pin" && head) {
      history.push({ ...head, publishedAt: made.publishedAt, base: index - 1 });
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
      history.push({ ...made, snapshot, base: history.findLastIndex(isWhole) });
    }
  }
  return history;
}

const id = (index: number): string => String(index + 1).padStart(10, "0");

interface Rows {
  readonly publications: readonly object[];
  readonly changes: readonly object[];
}

function rowsOf(account: string, history: readonly Publication[]): Rows {
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
      return before === after ? [] : [{ account, publication: id(index), uuid, before, after }];
    }),
  );
  return { publications, changes };
}

/** The rows of the view. */
function versionsOf(account: string, history: readonly Publication[]): readonly (readonly unknown[])[] {
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
     FROM (${EVENT_HISTORY_SQL}) ORDER BY account, uuid, publication_from`,
    [JSON.stringify(publications), JSON.stringify(changes)],
  );
  return read.getRowsJson();
}

const run = (...changes: readonly (readonly [string, string | null])[]): Step => ({
  kind: "run",
  edits: changes,
});

/** Without the account and the instants. */
async function shown(...steps: readonly Step[]): Promise<readonly (readonly unknown[])[]> {
  const rows = await viewOf(rowsOf("uk", historyOf(steps)));
  return rows.map(([, uuid, , , isDeleted, publication, event]) => [
    uuid,
    Number(publication),
    isDeleted,
    event,
  ]);
}

describe("event_history", () => {
  it("has a row per version; a removal ends one and begins one that is deleted; a comeback ends that", async () => {
    const versions = await shown(run(["a", "one"]), run(["a", "two"]), run(["a", null]), run(["a", "two"]));

    expect(versions).toEqual([
      ["a", 1, false, "one"],
      ["a", 2, false, "two"],
      ["a", 3, true, null],
      ["a", 4, false, "two"],
    ]);
  });

  it("says since when and until when, by the order of the publications, not of the clocks", async () => {
    const history = historyOf([run(["a", "one"]), run(["a", "two"]), run(["a", "three"])]);

    const rows = await viewOf(rowsOf("uk", history));

    expect(rows.map(([, , from, to]) => [from, to])).toEqual([
      ["at 0", "at 2"],
      ["at 2", "at 4"],
      ["at 4", null],
    ]);
  });

  it("follows a rollback and what comes after it; a pin alone is no version", async () => {
    const versions = await shown(
      run(["a", "one"]),
      run(["a", "two"], ["b", "one"]),
      { kind: "rollback", to: 0 },
      { kind: "pin" },
      run(["a", "two"]),
    );

    expect(versions).toEqual([
      ["a", 1, false, "one"],
      ["a", 2, false, "two"],
      ["a", 3, false, "one"],
      ["a", 5, false, "two"],
      ["b", 2, false, "one"],
      ["b", 3, true, null],
    ]);
  });

  it("undoes what a damaged snapshot had changed, where the one over it does not say so", async () => {
    // The third publication is compared with the first, so it names neither that a is one again nor that b is gone.
    const versions = await shown(run(["a", "one"]), run(["a", "two"], ["b", "one"]), {
      kind: "damaged",
      back: 0,
      edits: [
        ["a", "one"],
        ["b", null],
      ],
    });

    expect(versions).toEqual([
      ["a", 1, false, "one"],
      ["a", 2, false, "two"],
      ["a", 3, false, "one"],
      ["b", 2, false, "one"],
      ["b", 3, true, null],
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
});
