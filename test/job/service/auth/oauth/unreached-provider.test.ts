// A start without a terminal waits for an identity provider that it cannot reach, as long as no token is spent by that.

import { describe, expect, it } from "vitest";
import { PatientClock } from "../../../../simulator/manual-clock.ts";
import { makeEvents } from "../../../../simulator/simulated-event.ts";
import { told } from "../../../../words/said.ts";
import { connect, errorOf } from "../../connection.ts";
import { type FailureOf, failingTransport } from "../../http/scripted-transport.ts";
import { Authorized } from "./authorized.ts";
import { type ProcessOptions, RotationWorld } from "./rotation-world.ts";

const MINUTE = 60_000;

interface Waiting extends AsyncDisposable {
  readonly world: RotationWorld;
  /** When each request was sent, in ms since the start. */
  readonly sentAtMs: readonly number[];
  readonly process: ProcessOptions;
}

/** A start that keeps trying for ten minutes. */
async function waiting(failureOf: FailureOf): Promise<Waiting> {
  const world = await RotationWorld.start();
  const { transport, sentAtMs, beganAtMs } = failingTransport(world.clock, failureOf, world.network);
  return {
    world,
    sentAtMs,
    process: { transport, keepTryingUntilMs: beganAtMs + 10 * MINUTE },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

describe("an identity provider that cannot be reached", () => {
  it.each(["ECONNREFUSED", "EAI_AGAIN", "ENETUNREACH"])(
    "is asked again until it can (%s), in one login, and the log says once why",
    async (reason) => {
      await using given = await waiting((elapsedMs) => (elapsedMs < 5 * MINUTE ? reason : undefined));
      const { world, process, sentAtMs } = given;

      const { isRenewed } = await world.renewOnce(world.process(process));

      expect(isRenewed).toBe(true);
      expect(sentAtMs.at(-1)).toBe(5 * MINUTE);
      expect(world.counts).toMatchObject({ logins: 1, requests: 16, retries: 15 });
      expect(world.authorized.provider.counts).toMatchObject({ refreshes: 1, spentTokensSeen: 0 });
      expect(world.log.text.match(/keeps trying/g)).toHaveLength(1);
      expect(world.log.text).toContain(
        `POST /oauth/token: no response (${reason}). A run without a terminal keeps trying, for at most 10 min more`,
      );
    },
  );

  it("fails after ten minutes, and the tokens are free", async () => {
    await using given = await waiting(() => "ECONNREFUSED");
    const { world, process, sentAtMs } = given;

    const error = await errorOf(world.renewOnce(world.process(process)));

    expect(told(error)).toMatchObject({
      code: "SERVICE_UNAVAILABLE",
      message: expect.stringContaining("no response (ECONNREFUSED). Check --auth-url"),
    });
    expect(sentAtMs.at(-1)).toBe(10 * MINUTE);
    expect(world.authorized.place.claim).toBeUndefined();
  });

  it("fails after six requests at a terminal", async () => {
    await using given = await waiting(() => "ECONNREFUSED");
    const { world, process, sentAtMs } = given;

    await errorOf(world.renewOnce(world.process({ ...process, keepTryingUntilMs: 0 })));

    expect(sentAtMs).toEqual([0, 500, 2_500, 6_500, 14_500, 30_500]);
  });

  it("is asked once where waiting changes nothing", async () => {
    await using given = await waiting(() => "ENOTFOUND");
    const { world, process, sentAtMs } = given;

    const error = await errorOf(world.renewOnce(world.process(process)));

    expect(told(error)).toMatchObject({
      message: expect.stringContaining("there is no such host. Check --auth-url"),
    });
    expect(sentAtMs).toEqual([0]);
  });

  it("uses the tokens of a person who authorizes again meanwhile", async () => {
    await using given = await waiting((_, nth) => {
      if (nth === 3) given.world.authorized.authorizeAgain();
      return "ECONNREFUSED";
    });
    const { world, process, sentAtMs } = given;

    const { isRenewed, tokens } = await world.renewOnce(world.process(process));

    expect(isRenewed).toBe(false);
    expect(tokens.access_token).toBe(world.authorized.place.tokens?.access_token);
    expect(sentAtMs).toHaveLength(3);
  });

  it("is not waited for once the start is stopped", async () => {
    const stop = new AbortController();
    await using given = await waiting((_, nth) => {
      if (nth === 3) stop.abort(new Error("stopped"));
      return "ECONNREFUSED";
    });
    const { world, process } = given;
    const rotation = world.process(process);

    await expect(rotation.renew(await rotation.read(), stop.signal)).rejects.toThrow("stopped");

    expect(world.authorized.place.claim).toBeUndefined();
  });
});

describe("a request that may have reached the identity provider, and have spent the token", () => {
  it.each([
    ["a reset", () => "ECONNRESET"],
    ["a time-out", () => "TIMED_OUT"],
    ["a reset before refusals", (__: number, nth: number) => (nth === 1 ? "ECONNRESET" : "ECONNREFUSED")],
    ["a failure of TLS that passes", () => "ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR"],
  ])("is sent three times within ten seconds, as always: %s", async (_, failureOf) => {
    await using given = await waiting(failureOf);
    const { world, process, sentAtMs } = given;

    const error = await errorOf(world.renewOnce(world.process(process)));

    expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    expect(sentAtMs).toEqual([0, 500, 2_500]);
  });
});

it("an identity provider that has responded is not waited for later in the run", async () => {
  await using given = await waiting((_, nth) => (nth === 1 ? undefined : "ECONNREFUSED"));
  const { world, process, sentAtMs } = given;
  const rotation = world.process(process);
  await world.renewOnce(rotation);

  const error = await errorOf(world.renewOnce(rotation));

  expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(sentAtMs).toEqual([0, 0, 500, 2_500, 6_500, 14_500, 30_500]);
});

it("another process that claims the tokens after minutes without the provider is waited for as always", async () => {
  await using given = await waiting(() => "ECONNREFUSED");
  const { world, process } = given;
  const beganAtMs = world.clock.monotonicMs();
  const claimedAtMs = 5 * MINUTE;
  const own = world.store();
  const store = world.store({
    claim: async (version) =>
      world.clock.monotonicMs() - beganAtMs < claimedAtMs ? own.claim(version) : undefined,
  });

  const error = await errorOf(world.renewOnce(world.process({ ...process, store })));

  expect(error).toMatchObject({ message: expect.stringContaining("Another process has been renewing") });
  expect(world.clock.monotonicMs() - beganAtMs).toBe(claimedAtMs + 90_000);
});

it("a client of the method oauth waits for its identity provider", async () => {
  const clock = new PatientClock(Date.UTC(2026, 10, 21, 6));
  await using authorized = await Authorized.start(clock);
  await using connection = await connect(
    { clock, bearer: authorized.provider, events: makeEvents(3) },
    {
      credentials: authorized.provider.credentials,
      oauth: { ...authorized.options(), authUrl: "http://127.0.0.1:1/" },
      keepTryingUntilMs: clock.monotonicMs() + 6 * MINUTE,
    },
  );
  authorized.provider.endAccessTokens();

  const error = await errorOf(connection.service.list());

  expect(error).toMatchObject({ code: "SERVICE_UNAVAILABLE" });
  expect(connection.log.text).toContain("A run without a terminal keeps trying");
});
