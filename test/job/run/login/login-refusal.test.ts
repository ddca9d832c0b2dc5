// After a refused login a schedule sends no other one, until something has changed.

import { describe, expect, test } from "vitest";
import { check } from "../../../../lambdas/job/commands/check.ts";
import { discover } from "../../../../lambdas/job/commands/discover.ts";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import type { EventService } from "../../../../lambdas/job/service/event-service.ts";
import { formatRunId } from "../../../../lambdas/job/storage/layout.ts";
import { refusing } from "../interposed-store.ts";
import { ACCOUNT, DAY_MS, HOUR_MS, type PortChanges, SmallWorld } from "../small-world.ts";

const NOTE = `accounts/${ACCOUNT}/login-refused.json`;

/** A small world whose service logs in with the list request, and refuses the login if a test says so. */
class GuardedWorld extends SmallWorld {
  refusesWith: "LOGIN_REFUSED" | "ACCOUNT_DISABLED" | undefined = "LOGIN_REFUSED";
  /** Of the credentials that are stored now. */
  version: string | undefined = "v1";
  logins = 0;

  constructor() {
    super();
    this.show(5);
  }

  override ports(changes: PortChanges = {}): RunPorts {
    const ports = super.ports(changes);
    return {
      ...ports,
      openService: async (rateLimiter) => this.#guarded(await ports.openService(rateLimiter)),
    };
  }

  /** The schedule's start of this instant. */
  scheduled(changes: PortChanges = {}): Promise<RunResult> {
    return this.run({ trigger: "schedule", runId: formatRunId(this.clock.now()) }, changes);
  }

  #guarded(service: EventService): EventService {
    const logIn = async (): Promise<void> => {
      this.logins += 1;
      if (this.refusesWith) throw new SyncError(this.refusesWith, "The service refused the login.");
    };
    return {
      logIn,
      list: async (signal) => {
        await logIn();
        return service.list(signal);
      },
      detail: (requestAs, signal) => service.detail(requestAs, signal),
      close: () => service.close(),
      counts: service.counts,
      credentialsVersion: this.version,
    };
  }
}

async function refused(code: GuardedWorld["refusesWith"] = "LOGIN_REFUSED"): Promise<GuardedWorld> {
  const world = new GuardedWorld();
  world.refusesWith = code;
  const { error } = await world.scheduled();
  expect(error?.code).toBe(code);
  world.clock.advance(HOUR_MS);
  return world;
}

describe("after a refused login a schedule", () => {
  test.each(["LOGIN_REFUSED", "ACCOUNT_DISABLED"] as const)(
    "sends no login (%s), and says so in its result and in sync_runs",
    async (code) => {
      const world = await refused(code);

      const { row, error, explanation } = await world.scheduled();

      expect(error).toBeUndefined();
      expect(row).toMatchObject({
        outcome: "SKIPPED",
        reason: "LOGIN_REFUSED",
        requests: null,
        logins: null,
      });
      expect(explanation).toContain(`2026-01-01T00:00:00.001Z (${code})`);
      expect(explanation).toContain("before 2026-01-02T00:00:00.001Z");
      expect(world.logins).toBe(1);
      const logged = world.store.text(`run-log/${ACCOUNT}/${row.run_id}-1.ndjson`) ?? "";
      expect(JSON.parse(logged)).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    },
  );

  test("tries again once the secret has another version, and forgets the refusal once it is accepted", async () => {
    const world = await refused();
    world.version = "v2";
    world.refusesWith = undefined;

    const { row } = await world.scheduled();

    expect(row.outcome).toBe("PUBLISHED");
    expect(world.store.keys()).not.toContain(NOTE);
  });

  test("tries again after 24 hours, once: then the new refusal counts", async () => {
    const world = await refused();

    world.clock.advance(DAY_MS - HOUR_MS - 2); // each start takes a millisecond
    const justBefore = await world.scheduled();
    const dayLater = await world.scheduled();
    world.clock.advance(HOUR_MS);
    const thereafter = await world.scheduled();

    expect([justBefore, dayLater, thereafter].map(({ row }) => row.outcome)).toEqual([
      "SKIPPED",
      "FAILED",
      "SKIPPED",
    ]);
    expect(world.logins).toBe(2);
  });

  test.each([
    ["a run by hand", (world: GuardedWorld) => world.run()],
    ["a check", (world: GuardedWorld) => check(world.ports(), world.settings)],
  ])("tries again after %s that the service accepted", async (_, start) => {
    const world = await refused();
    world.refusesWith = undefined;

    await start(world);
    world.clock.advance(HOUR_MS);
    const { row } = await world.scheduled();

    expect(row.outcome).toBe("PUBLISHED");
  });

  test("publishes what is fetched already: that needs no login", async () => {
    const world = new GuardedWorld();
    world.refusesWith = undefined;
    const runId = formatRunId(world.clock.now());
    const store = refusing(world.store, "_manifest.json");
    await world.run({ trigger: "schedule", runId }, { store });
    world.refusesWith = "LOGIN_REFUSED";
    await check(world.ports(), world.settings);

    const { row } = await world.run({ trigger: "schedule", runId });

    expect(row).toMatchObject({ outcome: "PUBLISHED", attempt: 2 });
  });
});

describe("a start by hand", () => {
  test("always tries", async () => {
    const world = await refused();

    const { error } = await world.run();

    expect(error?.code).toBe("LOGIN_REFUSED");
    expect(world.logins).toBe(2);
  });

  test.each([
    { what: "run", start: (world: GuardedWorld) => world.run() },
    { what: "check", start: (world: GuardedWorld) => check(world.ports(), world.settings) },
  ])("that is refused keeps the schedule from sending the same again: $what", async ({ start }) => {
    const world = new GuardedWorld();

    await start(world);
    world.clock.advance(HOUR_MS);
    const { row } = await world.scheduled();

    expect(row).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    expect(world.logins).toBe(1);
  });
});

describe("the recorded refusal", () => {
  test("says when, why and of which version, and nothing secret", async () => {
    const world = await refused("ACCOUNT_DISABLED");

    expect(JSON.parse(world.store.text(NOTE) ?? "")).toEqual({
      code: "ACCOUNT_DISABLED",
      refused_at: "2026-01-01T00:00:00.001Z",
      credentials_version: "v1",
    });
  });

  test("is not written for credentials without versions: a schedule has others", async () => {
    const world = new GuardedWorld();
    world.version = undefined;

    await world.run();

    expect(world.store.keys()).not.toContain(NOTE);
  });

  test.each([
    { what: "is damaged", note: "{" },
    {
      what: "was written by a clock in the far future",
      note: '{"code":"LOGIN_REFUSED","refused_at":"9999-01-01T00:00:00.000Z","credentials_version":"v1"}',
    },
  ])("that $what stops no run, and is replaced by the next refusal", async ({ note }) => {
    const world = await refused();
    await world.store.delete([NOTE]);
    await world.store.create(NOTE, Buffer.from(note));

    const { row } = await world.scheduled();
    world.clock.advance(HOUR_MS);
    const next = await world.scheduled();

    expect(row).toMatchObject({ outcome: "FAILED", error_code: "LOGIN_REFUSED" });
    expect(next.row.reason).toBe("LOGIN_REFUSED");
  });

  test("that cannot be written changes nothing in how the run ends", async () => {
    const world = new GuardedWorld();

    const { error } = await world.scheduled({ store: refusing(world.store, NOTE) });

    expect(error?.code).toBe("LOGIN_REFUSED");
    expect(world.log.text).toContain("the result of the login could not be recorded: for a moment");
  });
});

describe("a retry by the platform of a command whose login was refused", () => {
  test("ends discover as SKIPPED", async () => {
    const world = new GuardedWorld();
    const retried = { requestId: "request 1" };
    const first = discover(world.ports(retried), world.settings, 5);
    await expect(first).rejects.toMatchObject({ code: "LOGIN_REFUSED" });

    const second = await discover(world.ports(retried), world.settings, 5);

    expect(second).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    expect(world.logins).toBe(1);
  });

  test("lets a check say so", async () => {
    const world = new GuardedWorld();
    const retried = { requestId: "request 1" };
    await check(world.ports(retried), world.settings);

    const checks = await check(world.ports(retried), world.settings);

    expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ name: "login", code: "LOGIN_REFUSED" }]);
    expect(world.logins).toBe(1);
  });
});
