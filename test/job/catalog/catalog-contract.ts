// What every catalog promises (lambdas/job/catalog/catalog.ts): what readers of its tables find.

import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { layout } from "../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { Publisher, snapshotOfDay } from "./publisher.ts";

/** The uuids that a reader finds; of a table with several partitions of an account, by the second one's value. */
interface Tables {
  events(account: string): Promise<readonly string[]>;
  snapshots(account: string): Promise<ReadonlyMap<string, readonly string[]>>;
  changes(account: string): Promise<ReadonlyMap<string, readonly string[]>>;
}

export interface CatalogWorld {
  readonly store: Store;
  readonly catalog: Catalog;
  readonly tables: Tables;
}

const [FIRST, SECOND, THIRD] = [snapshotOfDay(1), snapshotOfDay(2), snapshotOfDay(3)];

export function catalogContract(name: string, make: () => Promise<CatalogWorld>): void {
  /** The account `uk`, with a snapshot a day: a; a, b; a, b, c. */
  const published = async (days: number): Promise<CatalogWorld & { readonly uk: Publisher }> => {
    const world = await make();
    const uk = new Publisher(world.store, "uk");
    for (let day = 1; day <= days; day += 1) await uk.day(day, ["a", "b", "c"].slice(0, day));
    return { ...world, uk };
  };

  describe(`${name} as a catalog`, () => {
    it("follows a log without publications, and shows nothing", async () => {
      const { catalog, tables } = await published(0);

      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual([]);
      expect(await tables.snapshots("uk")).toEqual(new Map());
      expect(await tables.changes("uk")).toEqual(new Map());
    });

    it("shows the head's events, each snapshot and each publication's changes", async () => {
      const { catalog, tables } = await published(2);

      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual(["a", "b"]);
      expect(await tables.snapshots("uk")).toEqual(
        new Map([
          [FIRST, ["a"]],
          [SECOND, ["a", "b"]],
        ]),
      );
      expect(await tables.changes("uk")).toEqual(
        new Map([
          ["0000000001", ["a"]],
          ["0000000002", ["a", "b"]],
        ]),
      );
    });

    it("does not lead the log: a publication is not shown before the refresh", async () => {
      const { catalog, tables, uk } = await published(1);
      await catalog.refresh("uk");

      await uk.day(2, ["a", "b"]);
      const before = await tables.events("uk");
      await catalog.refresh("uk");

      expect(before).toEqual(["a"]);
      expect(await tables.events("uk")).toEqual(["a", "b"]);
    });

    it("shows the same when it follows again", async () => {
      const { catalog, tables } = await published(2);
      await catalog.refresh("uk");
      const before = [await tables.events("uk"), await tables.snapshots("uk"), await tables.changes("uk")];

      await catalog.refresh("uk");
      await Promise.all([catalog.refresh("uk"), catalog.refresh("uk")]);

      expect([await tables.events("uk"), await tables.snapshots("uk"), await tables.changes("uk")]).toEqual(
        before,
      );
    });

    it("shows an older snapshot again that was published again, and lists it once", async () => {
      const { catalog, tables, uk } = await published(2);
      await catalog.refresh("uk");

      await uk.publish(FIRST, [], { action: "rollback", published_at: "2026-11-03T06:00:00.000Z" });
      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual(["a"]);
      expect(await tables.snapshots("uk")).toEqual(
        new Map([
          [FIRST, ["a"]],
          [SECOND, ["a", "b"]],
        ]),
      );
    });

    it("keeps accounts apart", async () => {
      const { catalog, store, tables } = await published(1);
      await new Publisher(store, "uk-2").day(2, ["x"]);

      await catalog.refresh("uk");
      await catalog.refresh("uk-2");

      expect([await tables.events("uk"), await tables.events("uk-2")]).toEqual([["a"], ["x"]]);
      expect([...(await tables.snapshots("uk-2")).keys()]).toEqual([SECOND]);
      expect([...(await tables.changes("uk")).keys()]).toEqual(["0000000001"]);
    });

    it("shows no snapshot that is not published, and no changes of a run that lost the race for a number", async () => {
      const { catalog, store, tables, uk } = await published(1);
      await uk.make(SECOND, ["held"]);
      const orphan = layout("uk").changesPart("0000000001", SECOND, 0);
      await store.create(orphan, gzipSync('{"uuid":"orphan","change":"added"}\n'));

      await catalog.refresh("uk");

      expect([...(await tables.snapshots("uk")).keys()]).toEqual([FIRST]);
      expect(await tables.changes("uk")).toEqual(new Map([["0000000001", ["a"]]]));
    });

    it("shows no changes of a publication that has none, though another decision about its snapshot has left some", async () => {
      const { catalog, store, tables, uk } = await published(1);
      await uk.publish(FIRST);
      const left = layout("uk").changesPart("0000000002", FIRST, 0);
      await store.create(left, gzipSync('{"uuid":"left","change":"added"}\n'));

      await catalog.refresh("uk");

      expect((await tables.changes("uk")).get("0000000002") ?? []).toEqual([]);
      expect((await tables.changes("uk")).get("0000000001")).toEqual(["a"]);
    });

    it("takes a retired snapshot out of event_snapshots, and nothing else", async () => {
      const { catalog, tables, uk } = await published(2);
      await catalog.refresh("uk");

      await uk.retire(FIRST);
      await catalog.refresh("uk");

      expect([...(await tables.snapshots("uk")).keys()]).toEqual([SECOND]);
      expect(await tables.events("uk")).toEqual(["a", "b"]);
      expect([...(await tables.changes("uk")).keys()]).toEqual(["0000000001", "0000000002"]);
    });

    it("shows a retired snapshot again once it is given back", async () => {
      const { catalog, tables, uk } = await published(3);
      await uk.retire(FIRST);
      await uk.retire(SECOND);
      await catalog.refresh("uk");
      const retired = [...(await tables.snapshots("uk")).keys()];

      await uk.giveBack(FIRST);
      await catalog.refresh("uk");

      expect(retired).toEqual([THIRD]);
      expect([...(await tables.snapshots("uk")).keys()]).toEqual([FIRST, THIRD]);
    });

    it.each([
      ["before it follows", false],
      ["later", true],
    ])("shows no changes that lack a part %s, until it is restored, and all others", async (_, follows) => {
      const { catalog, store, tables } = await published(1);
      const [part, other] = [0, 1].map((index) => layout("uk").changesPart("0000000001", FIRST, index));
      await store.create(other ?? "", gzipSync('{"uuid":"of another part","change":"added"}\n'));
      if (follows) await catalog.refresh("uk");
      const before = await tables.changes("uk");

      const { bytes = "" } = (await store.read(part ?? "")) ?? {};
      await store.delete([part ?? ""]);
      await new Publisher(store, "uk").day(2, ["b"]);
      await catalog.refresh("uk");
      const damaged = await tables.changes("uk");
      await store.create(part ?? "", Buffer.from(bytes));
      await catalog.refresh("uk");

      const first: [string, string[]] = ["0000000001", ["a", "of another part"]];
      const second: [string, string[]] = ["0000000002", ["b"]];
      expect(before).toEqual(new Map(follows ? [first] : []));
      expect(damaged).toEqual(new Map([second]));
      expect(await tables.changes("uk")).toEqual(new Map([first, second]));
    });

    it("shows the head, retired or not", async () => {
      const { catalog, tables, uk } = await published(2);
      await uk.retire(SECOND);

      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual(["a", "b"]);
      expect([...(await tables.snapshots("uk")).keys()]).toEqual([FIRST, SECOND]);
    });

    it("shows what it showed when the log is damaged", async () => {
      const { catalog, store, tables } = await published(1);
      await catalog.refresh("uk");
      await store.create("publications/uk/0000000002.ndjson", Buffer.from("damaged\n"));

      await expect(catalog.refresh("uk")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
      expect(await tables.events("uk")).toEqual(["a"]);
    });

    it.each(["0000000001", "0000000002", "0000000003"])(
      "follows one account while the publication %s or the manifest of another one is damaged, which stays as it was",
      async (number) => {
        const { catalog, store, tables } = await published(2);
        const other = new Publisher(store, "uk-2");
        await other.day(1, ["x"]);
        await catalog.refresh("uk");
        await catalog.refresh("uk-2");
        await store.delete([layout("uk").publication(number)]);
        await store.create(layout("uk").publication(number), Buffer.from("damaged\n"));
        await store.delete([layout("uk-2").manifest(FIRST)]);
        await store.create(layout("uk-2").manifest(FIRST), Buffer.from("damaged\n"));

        await other.day(2, ["x", "y"]);
        await catalog.refresh("uk-2");

        expect(await tables.events("uk-2")).toEqual(["x", "y"]);
        expect([...(await tables.snapshots("uk-2")).keys()]).toEqual([FIRST, SECOND]);
        expect(await tables.events("uk")).toEqual(["a", "b"]);
        expect([...(await tables.snapshots("uk")).keys()]).toEqual([FIRST, SECOND]);
        expect([...(await tables.changes("uk")).keys()]).toEqual(["0000000001", "0000000002"]);
      },
    );

    it("shows nothing of an account that was removed, whatever its log holds, and the others as before", async () => {
      const { catalog, store, tables, uk } = await published(2);
      await new Publisher(store, "uk-2").day(2, ["x"]);
      await catalog.refresh("uk");
      await catalog.refresh("uk-2");
      await store.create("publications/uk/0000000003.ndjson", Buffer.from("damaged\n"));
      await uk.remove(4);

      await catalog.refresh("uk");
      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual([]);
      expect(await tables.snapshots("uk")).toEqual(new Map());
      expect(await tables.changes("uk")).toEqual(new Map());
      expect(await tables.events("uk-2")).toEqual(["x"]);
      expect([...(await tables.snapshots("uk-2")).keys()]).toEqual([SECOND]);
      expect([...(await tables.changes("uk-2")).keys()]).toEqual(["0000000001"]);
    });

    it("shows of an account that was removed and published again only what came after", async () => {
      const { catalog, tables, uk } = await published(2);
      await catalog.refresh("uk");
      // By a clock that is behind: the second snapshot is named later.
      await uk.remove(1);
      await uk.day(3, ["c"]);

      await catalog.refresh("uk");

      expect(await tables.events("uk")).toEqual(["c"]);
      expect(await tables.snapshots("uk")).toEqual(new Map([[THIRD, ["c"]]]));
      expect(await tables.changes("uk")).toEqual(new Map([["0000000004", ["c"]]]));
    });
  });
}
