import { describe, expect, test } from "vitest";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox } from "./function-sandbox.ts";

describe("a run", () => {
  test("started by hand resumes the unfinished run, and logs under its id", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const broken = interposed(sandbox.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    const failure = await sandbox.invoke({}, { store: broken }).catch((error: unknown) => error);
    const unfinished = String(sandbox.log.known["run_id"]);
    sandbox.simulator.reset();

    const response = await sandbox.invoke({});

    expect(failure).toMatchObject({ name: "STORE_FAILED" });
    expect(response).toMatchObject({ outcome: "PUBLISHED", run_id: unfinished });
    expect(sandbox.log.known["run_id"]).toBe(unfinished);
    expect(sandbox.simulator.counts.requests).toBe(0);
  });

  test("starts from the beginning with fresh", async () => {
    await using sandbox = await FunctionSandbox.start({ events: makeEvents(5) });
    const broken = interposed(sandbox.store, async (key) => {
      if (key.endsWith("_manifest.json")) throw new SyncError("STORE_FAILED", "for a moment");
    });
    await sandbox.invoke({}, { store: broken }).catch(() => undefined);
    sandbox.simulator.reset();

    await sandbox.invoke({ fresh: true });

    expect(sandbox.simulator.counts).toMatchObject({ logins: 1, details: 5 });
  });

  test("sends no more requests where little time is left", async () => {
    await using sandbox = await FunctionSandbox.start();
    let asked = 0;
    sandbox.timeLeft = () => (++asked === 1 ? 900_000 : 29_000);

    await expect(sandbox.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(sandbox.simulator.counts.details).toBe(0);
    expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
  });

  test("is aborted in the middle of its work when its time is over, and frees the lease", async () => {
    await using sandbox = await FunctionSandbox.start({
      onRequest: async ({ endpoint }) => {
        if (endpoint === "detail") await new Promise((resolve) => setTimeout(resolve, 200));
      },
    });
    let asked = 0;
    sandbox.timeLeft = () => (++asked === 1 ? 140 : 40_000); // a tenth of a second, and then enough

    await expect(sandbox.invoke({})).rejects.toMatchObject({ name: "INTERRUPTED" });

    expect(JSON.parse(sandbox.store.text(layout("uk").lease) ?? "")).toMatchObject({ run_id: null });
  });
});
