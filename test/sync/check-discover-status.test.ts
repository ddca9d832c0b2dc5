import { describe, expect, test } from "vitest";
import { livingLease } from "../job/run/living-lease.ts";
import { FunctionWorld } from "./function-world.ts";

describe("a request that publishes nothing", () => {
  test("check returns what does not work, with its remedy", async () => {
    await using world = await FunctionWorld.start();
    world.credentials = { method: "session", email: "a@example.test", password: "wrong" };

    const response = await world.invoke({ action: "check" });

    expect(response).toMatchObject({ account: "uk", ok: false });
    expect(response).toMatchObject({
      checks: expect.arrayContaining([
        { name: "login", ok: false, code: "LOGIN_REFUSED", remedy: expect.any(String) },
        { name: "store", ok: true, code: null, remedy: null },
      ]),
    });
  });

  test("check and discover meet a run, say so, and send nothing", async () => {
    await using world = await FunctionWorld.start();
    world.store.put("accounts/uk/lease.json", livingLease(world.clock.now()));

    const check = await world.invoke({ action: "check" });
    const discover = await world.invoke({ action: "discover" });

    const explanation = expect.stringMatching(/^The run run-1 works on this account; /);
    expect(check).toMatchObject({
      account: "uk",
      ok: false,
      checks: [
        { name: "credentials", ok: true },
        { name: "lease", ok: false, code: "LEASE_TAKEN", remedy: explanation },
        { name: "store", ok: true },
        { name: "catalog", ok: true },
        { name: "snapshot", ok: true },
      ],
    });
    expect(discover).toEqual({ account: "uk", outcome: "SKIPPED", reason: "LEASE_TAKEN", explanation });
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("discover with more events than a sample has is refused", async () => {
    await using world = await FunctionWorld.start();

    const refused = world.invoke({ action: "discover", limit: 501 });

    await expect(refused).rejects.toMatchObject({
      name: "CONFIG_INVALID",
      message: expect.stringContaining("at most 500 events"),
    });
    expect(world.simulator.counts.requests).toBe(0);
  });

  test("discover reads a sample", async () => {
    await using world = await FunctionWorld.start();

    const response = await world.invoke({ action: "discover", limit: 3 });

    expect(response).toMatchObject({ account: "uk", listed: 100, events: 3 });
    expect(world.simulator.counts.details).toBe(3);
  });

  test("status sends no request", async () => {
    await using world = await FunctionWorld.start();

    const response = await world.invoke({ action: "status" });

    expect(response).toEqual({ account: "uk", head: null, lease: null, held: [], runs: [] });
    expect(world.simulator.counts.requests).toBe(0);
  });
});
