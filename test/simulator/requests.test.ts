import { afterEach, describe, expect, test } from "vitest";
import { CANARY } from "./account.ts";
import { basic, get } from "./browser.ts";
import { Simulator } from "./simulator.ts";

let simulator: Simulator;
afterEach(() => simulator.stop());

describe("what is asked wrongly", () => {
  test.each([
    ["GET", "/v1/analyses", 404],
    ["GET", "//v1/events", 404],
    ["GET", "/v1/events/", 404],
    ["GET", "/v1/v1/events", 404],
    ["GET", "/v1/events/a/", 404],
    ["POST", "/v1/events", 405],
    ["DELETE", "/v1/events/a", 405],
    ["GET", "/v1/auth/login", 405],
  ])("%s %s is answered %i", async (method, path, status) => {
    simulator = await Simulator.start();
    const headers = { authorization: basic(simulator.credentials) };

    expect((await fetch(simulator.url + path, { method, headers })).status).toBe(status);
  });

  test("a known event is known at its own path only", async () => {
    simulator = await Simulator.start();
    const [event] = simulator.listed();
    const status = async (path: string): Promise<number> => (await get(simulator, path)).status;

    expect(await status(`/v1/events/${event?.uuid}`)).toBe(200);
    expect(await status(`/v1/events/${event?.uuid}/`)).toBe(404);
    expect(await status(`/v1/events/${event?.uuid}/x`)).toBe(404);
    expect(await status(`/v1/events/${event?.uuid.toUpperCase()}`)).toBe(404);
  });

  test("and it is 401 without a login, whatever it is", async () => {
    simulator = await Simulator.start();

    expect((await get(simulator, "/v1/nonsense", {})).status).toBe(401);
    expect((await get(simulator, "/v1/events/a", { cookie: CANARY.cookie })).status).toBe(401);
  });
});
