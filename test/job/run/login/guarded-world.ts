// A small world whose service may refuse the login.

import { expect } from "vitest";
import { SyncError } from "../../../../lambdas/job/errors/sync-error.ts";
import type { RunResult } from "../../../../lambdas/job/run/record/run-result.ts";
import type { CountingService, RunPorts } from "../../../../lambdas/job/run/run-ports.ts";
import { formatRunId } from "../../../../lambdas/job/storage/layout.ts";
import { ACCOUNT, HOUR_MS, type PortChanges, SmallWorld } from "../small-world.ts";

export const NOTE = `accounts/${ACCOUNT}/login-refused.json`;

/** A small world whose service logs in with the list request, and refuses the login if a test says so. */
export class GuardedWorld extends SmallWorld {
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

  #guarded(service: CountingService): CountingService {
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

export async function refused(code: GuardedWorld["refusesWith"] = "LOGIN_REFUSED"): Promise<GuardedWorld> {
  const world = new GuardedWorld();
  world.refusesWith = code;
  const { error } = await world.scheduled();
  expect(error?.code).toBe(code);
  world.clock.advance(HOUR_MS);
  return world;
}
