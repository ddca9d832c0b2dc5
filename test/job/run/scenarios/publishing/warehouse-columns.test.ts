// Lifted columns belong to the warehouse: a run that names none uses those that are there.

import { describe, expect, test } from "vitest";
import { check } from "../../../../../lambdas/job/commands/check.ts";
import { discover } from "../../../../../lambdas/job/commands/discover.ts";
import { columnsOfRun } from "../../../../../lambdas/job/run/publish/columns.ts";
import type { RunSettings } from "../../../../../lambdas/job/run/run-settings.ts";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { eventColumns, parseLiftedColumns } from "../../../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { readColumns } from "../../../../../lambdas/job/snapshot/rows/table-columns.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

const lifted = (...texts: readonly string[]): Pick<RunSettings, "lifted"> => ({
  lifted: parseLiftedColumns(texts),
});

/** The columns of the account's snapshot, as `--lift` names them. */
async function liftedIn(sandbox: Sandbox, snapshotId: string | null, account = ACCOUNT): Promise<unknown> {
  const manifest = await readManifest(accountStore(sandbox.store, account), snapshotId ?? "");
  return manifest.lifted.map(({ name, pointer }) => `${name}=${pointer}`);
}

/** Runs as the account with these columns. */
async function runAs(sandbox: Sandbox, account: string, ...texts: readonly string[]) {
  sandbox.account = account;
  sandbox.settings = { ...sandbox.settings, ...lifted(...texts) };
  return sandbox.run();
}

describe("a run that names none", () => {
  test("uses those of the account's head, says so once, and changes no event", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(5) });
    await runAs(sandbox, "uk", "name=/name", "sector=/sector/name");

    const { row } = await runAs(sandbox, "uk");

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
    expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(["name=/name", "sector=/sector/name"]);
    const said = sandbox.log.lines.filter((line) => line.includes("uses the lifted columns"));
    expect(said).toEqual([expect.stringContaining("of the warehouse: name (/name), sector (/sector/name)")]);
  });

  test("takes from another account what its own snapshot lacks, and keeps its own pointers", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "de", "name=/date");
    await runAs(sandbox, "uk", "name=/name", "sector=/sector/name");

    const { row } = await runAs(sandbox, "de");

    expect(await liftedIn(sandbox, row.snapshot_id, "de")).toEqual(["name=/date", "sector=/sector/name"]);
  });

  test("has those of the warehouse also as the first run of its account", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name");

    const { row } = await runAs(sandbox, "fr");

    expect(await liftedIn(sandbox, row.snapshot_id, "fr")).toEqual(["name=/name"]);
  });

  test("dry, uses them as well", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name");
    sandbox.settings = { ...sandbox.settings, lifted: [] };

    const { row } = await sandbox.run({ dryRun: { limit: undefined } });

    expect(row).toMatchObject({ outcome: "DRY_RUN", changed: 0 });
    expect(sandbox.log.text).toContain("uses the lifted columns of the warehouse: name (/name)");
  });

  test("is published though another account appends columns meanwhile, and has them in its next run", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name");
    const ports = sandbox.ports();

    const { row } = await runMeanwhile(sandbox, ports, () =>
      runAs(sandbox, "de", "name=/name", "sector=/sector/name"),
    );
    const next = await runAs(sandbox, "uk");

    expect(row.outcome).toBe("PUBLISHED");
    expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(["name=/name"]);
    expect(await liftedIn(sandbox, next.row.snapshot_id)).toEqual(["name=/name", "sector=/sector/name"]);
  });

  test.each([
    { what: "with the columns that it began with", between: [] },
    { what: "though another account appended columns", between: ["name=/name", "sector=/sector/name"] },
  ])("resumes an unfinished one, $what", async ({ between }) => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20) }, { rangeEvents: 5 });
    await runAs(sandbox, "uk", "name=/name");
    sandbox.settings = { ...sandbox.settings, lifted: [] };
    await stopAfter(sandbox, 12);
    if (between.length > 0) await runAs(sandbox, "de", ...between);
    sandbox.simulator.reset();

    const { row } = await runAs(sandbox, "uk");

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.simulator.counts.details).toBeLessThan(20);
    expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(["name=/name"]);
  });

  test("resumes a run that named them", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20) }, { rangeEvents: 5 });
    await runAs(sandbox, "uk", "name=/name");
    await stopAfter(sandbox, 12);
    sandbox.simulator.reset();

    const { row } = await runAs(sandbox, "uk");

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.simulator.counts.details).toBeLessThan(20);
  });
});

describe("a run that names more", () => {
  test("appends them, and later runs have them without naming any", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name");

    await runAs(sandbox, "uk", "name=/name", "sector=/sector/name");
    const { row } = await runAs(sandbox, "uk");

    expect(await liftedIn(sandbox, row.snapshot_id)).toEqual(["name=/name", "sector=/sector/name"]);
  });
});

describe("the type of a column for readers", () => {
  const typed = (type: string): string => `amount=/spend/amount:${type}`;
  const typesIn = async (sandbox: Sandbox): Promise<unknown> =>
    Object.fromEntries(
      (await readColumns(sandbox.store)).flatMap(({ name, type }) => (type ? [[name, type]] : [])),
    );

  test("stays where later runs name no type, or no column", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", typed("DECIMAL(18,2)"));

    const { row: untyped } = await runAs(sandbox, "uk", "amount=/spend/amount");
    const { row: unnamed } = await runAs(sandbox, "uk");

    expect([untyped, unnamed].map(({ outcome }) => outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
    expect(await typesIn(sandbox)).toEqual({ amount: "DECIMAL(18,2)" });
    expect(sandbox.log.text).toContain("amount (/spend/amount, DECIMAL(18,2))");
  });

  test("changes when a run names another one, which changes no row, and VARCHAR takes it away", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const { row: first } = await runAs(sandbox, "uk", typed("DECIMAL(18,2)"));

    const { row } = await runAs(sandbox, "uk", typed("DOUBLE"));
    const changed = await typesIn(sandbox);
    await runAs(sandbox, "uk", typed("VARCHAR"));

    expect(row).toMatchObject({ outcome: "PUBLISHED", added: 0, changed: 0, removed: 0 });
    expect(changed).toEqual({ amount: "DOUBLE" });
    expect(await typesIn(sandbox)).toEqual({ amount: "VARCHAR" });
    expect(sandbox.log.text).toContain(
      "the column amount now has the type DOUBLE, and no longer DECIMAL(18,2); its text stays as it is",
    );
    const manifests = [first, row].map(({ snapshot_id }) =>
      readManifest(accountStore(sandbox.store, "uk"), snapshot_id ?? ""),
    );
    const [before, after] = await Promise.all(manifests);
    expect(after?.parts).toEqual(before?.parts);
    expect(after?.fingerprint).toBe(before?.fingerprint);
  });

  test.each(["amount=/spend/amount:decimal(18, 2)", "amount=/spend/amount:date"])(
    "%s has none, and the run says how a type is written",
    async (text) => {
      await using sandbox = await Sandbox.start({ events: makeEvents(3) });

      await runAs(sandbox, "uk", text);
      const warned = sandbox.log.text;
      await runAs(sandbox, "de", "amount=/spend/amount:x");

      expect(warned).toContain("has no type: a type is written in capital letters and without spaces");
      expect(await typesIn(sandbox)).toEqual({});
    },
  );

  test("is the one that any account's run named last, though others run after it", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", typed("DOUBLE"));
    await runAs(sandbox, "de", typed("DECIMAL(18,2)"));

    await runAs(sandbox, "uk");

    expect(await typesIn(sandbox)).toEqual({ amount: "DECIMAL(18,2)" });
  });

  test("is no part of the work: a run that names another one resumes it", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(20) }, { rangeEvents: 5 });
    sandbox.settings = { ...sandbox.settings, ...lifted(typed("DOUBLE")) };
    await stopAfter(sandbox, 12);
    sandbox.simulator.reset();

    const { row } = await runAs(sandbox, "uk", typed("BIGINT"));

    expect(row.outcome).toBe("PUBLISHED");
    expect(sandbox.simulator.counts.details).toBeLessThan(20);
    expect(await typesIn(sandbox)).toEqual({ amount: "BIGINT" });
  });
});

describe("a run that names none is refused before any request", () => {
  test("where other accounts do not agree where a column comes from; the remedy works", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    await runAs(sandbox, "uk", "name=/name", "day=/date");
    await runAs(sandbox, "de", "name=/name", "day=/created");
    sandbox.simulator.reset();

    const refused = await runAs(sandbox, "fr");
    const requests = sandbox.simulator.counts.requests;
    const named = await runAs(sandbox, "fr", "name=/name", "day=/date");
    const later = await runAs(sandbox, "fr");

    expect(refused.row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID", requests: null });
    expect(refused.row.error_message).toContain(
      "the column day comes from /created and from /date in different accounts. Name them once, in this order: --lift name=/name --lift day=POINTER",
    );
    expect(requests).toBe(0);
    expect([named, later].map(({ row }) => row.outcome)).toEqual(["PUBLISHED", "PUBLISHED"]);
  });

  test("where the tables have a column that no snapshot has, as check says too", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(3) });
    const columns = async (): Promise<readonly string[]> => [...eventColumns([]), "brand"];
    const catalog = { refresh: async () => undefined, columns };

    const { row } = await sandbox.run({}, { catalog });
    const checks = await check(sandbox.ports({ catalog }), sandbox.settings);

    const why =
      "no snapshot says where the column brand comes from. Name them once, in this order: --lift brand=POINTER (in AWS: the setting lifted)";
    expect(row).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID", requests: null });
    expect(row.error_message).toContain(why);
    expect(checks).toContainEqual({
      name: "catalog",
      ok: false,
      code: "CONFIG_INVALID",
      remedy: expect.stringContaining(why),
    });
  });
});

test("damage of another account does not stop a run whose columns are known", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) });
  await runAs(sandbox, "uk", "name=/name");
  sandbox.store.put("publications/de/0000000001.ndjson", "damaged\n");
  const columns = async (): Promise<readonly string[]> => [...eventColumns([]), "name"];
  const catalog = { refresh: async () => undefined, columns };

  const found = await columnsOfRun(
    { ...sandbox.ports({ catalog }), store: accountStore(sandbox.store, "fr") },
    { lifted: [] },
  );

  expect(found.columns).toEqual([{ name: "name", pointer: "/name" }]);
});

test("discover suggests what is no column yet, under names that are free", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) });
  await runAs(sandbox, "uk", "amount=/name");
  sandbox.settings = { ...sandbox.settings, lifted: [] };

  const found = await discover(sandbox.ports(), sandbox.settings, 10);

  if ("outcome" in found) throw new Error(found.explanation);
  expect(found.columns).toEqual([{ name: "amount", pointers: ["/name"], isOwn: true }]);
  const suggested = new Map(found.suggestions.map(({ name, pointer }) => [pointer, name]));
  expect(suggested.has("/name")).toBe(false);
  expect(suggested.get("/spend/amount")).toBe("spend_amount");
});

/** A run during which something else happens, after its columns are settled. */
async function runMeanwhile(
  sandbox: Sandbox,
  ports: ReturnType<Sandbox["ports"]>,
  work: () => Promise<unknown>,
) {
  const settings = { ...sandbox.settings, lifted: [] };
  sandbox.settings = settings;
  return sandbox.run(
    {},
    {
      openService: async (rateLimiter) => {
        await work();
        sandbox.settings = settings;
        return ports.openService(rateLimiter);
      },
    },
  );
}

async function stopAfter(sandbox: Sandbox, events: number): Promise<void> {
  const stop = new AbortController();
  const enough = new Error("enough");
  const stopped = sandbox.run(
    {},
    { signal: stop.signal, onProgress: ({ done }) => done === events && stop.abort(enough) },
  );
  await expect(stopped).rejects.toThrow("enough");
}
