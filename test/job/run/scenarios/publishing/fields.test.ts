// The field profile of a snapshot, and what a run logs about it.

import { expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { customEvent } from "../../custom-event.ts";
import { Sandbox } from "../../sandbox.ts";

test("a run that publishes logs what is new in the fields, one line of each kind, and the first one nothing", async () => {
  const before = [customEvent("x", '"n":1,"old":true'), customEvent("y", '"n":2')];
  await using sandbox = await Sandbox.start({ events: before });
  await sandbox.run();
  const logged = (): readonly string[] => sandbox.log.lines.filter((line) => /field/.test(line));
  const first = logged();
  sandbox.simulator.setEvents([customEvent("x", '"n":"1"'), customEvent("y", '"n":2,"new":{"er":null}')]);

  await sandbox.run();

  expect(first).toEqual([]);
  expect(logged()).toEqual([
    "info fields that changed their type: /n (from number to string or number) {}",
    "info fields that are gone: /old (boolean) {}",
    "info new fields: /new (object), /new/er (null) {}",
  ]);
});

test("a run that is held logs nothing about fields", async () => {
  await using sandbox = await Sandbox.start({
    events: [customEvent("x", '"n":1'), customEvent("y", '"n":2')],
  });
  await sandbox.run();
  sandbox.simulator.setEvents([customEvent("x", '"m":1')]);

  const { row } = await sandbox.run();

  expect(row.outcome).toBe("HELD");
  expect(sandbox.log.text).not.toContain("field");
});

test("a run is published although the changes of the fields cannot be compared", async () => {
  await using sandbox = await Sandbox.start({ events: makeEvents(3) });
  const first = (await sandbox.run()).row.snapshot_id ?? "";
  const catalog = {
    refresh: async (account: string) => {
      await sandbox.catalog.refresh(account);
      if (sandbox.catalog.head(account)?.snapshot_id === first) return;
      sandbox.store.put(layout(account).manifest(first), "damaged");
    },
  };

  const { row } = await sandbox.run({}, { catalog });

  expect(row).toMatchObject({ outcome: "PUBLISHED", error_code: null });
  expect(sandbox.log.text).toMatch(/warn the changes of the events' fields could not be compared/);
});
