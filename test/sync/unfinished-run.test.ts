import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionWorld } from "./function-world.ts";

describe("a run", () => {
  test("started by hand resumes the unfinished run, and logs under its id", async () => {
    await using world = await FunctionWorld.start({ events: makeEvents(5) });
    const broken = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    const failure = await world.invoke({}, { store: broken }).catch((error: unknown) => error);
    const unfinished = String(world.log.known["run_id"]);
    world.simulator.reset();

    const response = await world.invoke({});

    expect(failure).toMatchObject({ name: "STORE_FAILED" });
    expect(response).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished });
    expect(world.log.known["run_id"]).toBe(unfinished);
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("starts from the beginning with fresh", async () => {
    await using world = await FunctionWorld.start({ events: makeEvents(5) });
    const broken = interposed(world.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    await world.invoke({}, { store: broken }).catch(() => undefined);
    world.simulator.reset();

    await world.invoke({ fresh: true });

    expect(world.simulator.counts).toMatchObject({ logins: 1, details: 5 });
  });

  test("stops before a unit that the time left does not cover", async () => {
    await using world = await FunctionWorld.start();
    world.timeLeft = () => 29_000;

    await expect(world.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(world.simulator.counts.details).toBe(0);
    expect(JSON.parse(world.store.text(layout.lease("uk")) ?? "")).toMatchObject({ run_id: null });
  });

  test("is aborted in the middle of a unit when its time is over, and frees the lease", async () => {
    await using world = await FunctionWorld.start({
      onRequest: async ({ endpoint }) => {
        if (endpoint === "detail") await new Promise((resolve) => setTimeout(resolve, 200));
      },
    });
    let asked = 0;
    world.timeLeft = () => (++asked === 1 ? 10_100 : 40_000); // a tenth of a second, and then time for every unit

    await expect(world.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(JSON.parse(world.store.text(layout.lease("uk")) ?? "")).toMatchObject({ run_id: null });
  });
});
