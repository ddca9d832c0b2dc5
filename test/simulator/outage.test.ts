import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";
import { Simulator } from "./simulator.ts";

const ask = async (url: string): Promise<unknown> => {
  const sent = request(`${url}/v1/events`, { agent: false, timeout: 50 });
  sent.on("timeout", () => sent.destroy(Object.assign(new Error("nothing comes"), { code: "TIMED_OUT" })));
  sent.end();
  const answer = once(sent, "response").then(([response]) => {
    response.resume();
    return response.statusCode;
  });
  return answer.catch((error: { code?: unknown }) => error.code);
};

describe("an outage at the start", () => {
  test.each([
    ["refuse", "ECONNREFUSED"],
    ["reset", "ECONNRESET"],
    ["hang", "TIMED_OUT"],
  ] as const)("of the kind %s lasts as long as it is told to", async (kind, failure) => {
    const clock = new ManualClock(0);
    await using simulator = await Simulator.start({ clock, outage: { kind, ms: 1_000 } });

    clock.advance(999);
    expect(await ask(simulator.url)).toBe(failure);
    expect(simulator.counts.requests).toBe(0);
    clock.advance(1);

    await expect.poll(() => ask(simulator.url)).toBe(401);
  });

  test.each(["refuse", "reset", "hang"] as const)("of the kind %s may be the whole life", async (kind) => {
    const simulator = await Simulator.start({ outage: { kind, ms: 60_000 } });

    await simulator.stop();

    expect(await ask(simulator.url)).toBe("ECONNREFUSED");
  });
});
