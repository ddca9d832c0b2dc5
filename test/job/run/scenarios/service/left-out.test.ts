import { describe, expect, test } from "vitest";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { ACCOUNT, Sandbox } from "../../sandbox.ts";

describe("a listed event without details", () => {
  test("is left out and counted: forbidden, gone twice, oversize, too deep [D10]", async () => {
    await using sandbox = await Sandbox.start({ events: makeEvents(100) });
    const [forbidden, gone404, gone410, oversize, deep] = sandbox.simulator.listed().map(({ uuid }) => uuid);
    if (!forbidden || !gone404 || !gone410 || !oversize || !deep) throw new Error("too few events");
    sandbox.simulator.restrict(forbidden);
    sandbox.simulator.vanish(gone404);
    sandbox.simulator.vanish(gone410, 410);
    sandbox.simulator.change(oversize, {
      source: `{"uuid":"${oversize}","text":"${"x".repeat(4 * 1024 * 1024)}"}`,
    });

    sandbox.simulator.change(deep, {
      source: `{"uuid":"${deep}","x":${"[".repeat(1_000)}${"]".repeat(1_000)}}`,
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({
      outcome: "PUBLISHED",
      listed: 100,
      events: 95,
      forbidden: 1,
      gone: 2,
      rejected: 2,
    });
    const { counts } = JSON.parse(sandbox.store.text(layout(ACCOUNT).manifest(row.run_id)) ?? "");
    expect(counts).toMatchObject({ rejected: 2, oversize: 1, too_deep: 1 });
    const expected = new Map(sandbox.truth());
    for (const uuid of [forbidden, gone404, gone410, oversize, deep]) expected.delete(uuid);
    expect(await sandbox.events()).toEqual(expected);
    const leftOut = sandbox.store.text(layout(ACCOUNT).leftOut(row.run_id))?.trimEnd().split("\n");
    expect(leftOut?.map((line) => JSON.parse(line)).toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1))).toEqual(
      [
        { uuid: forbidden, reason: "forbidden" },
        { uuid: gone404, reason: "gone" },
        { uuid: gone410, reason: "gone" },
        { uuid: oversize, reason: "oversize" },
        { uuid: deep, reason: "too_deep" },
      ].toSorted((a, b) => (a.uuid < b.uuid ? -1 : 1)),
    );
  });

  test("has an entry without a uuid: rejected; a repeated entry is collapsed and counted", async () => {
    const events = makeEvents(50);
    await using sandbox = await Sandbox.start({
      events,
      list: { extra: ['{"name":"no uuid"}', '{"uuid":"not one"}'], duplicates: 3 },
    });

    const { row } = await sandbox.run();

    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 52, events: 50, rejected: 2 });
    const manifest = JSON.parse(sandbox.store.text(layout(ACCOUNT).manifest(row.run_id)) ?? "");
    expect(manifest.counts).toMatchObject({ listed: 52, events: 50, rejected: 2, repeated: 3 });
  });
});
