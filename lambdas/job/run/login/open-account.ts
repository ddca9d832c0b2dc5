// Opens the service for an account, but not for a schedule or a retry whose credentials the service has refused.

import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import type { Skipped } from "../lease/skipped.ts";
import type { Trigger } from "../record/run-log.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import { readRefusal, withheldUntil } from "./login-refusal.ts";
import { recordLoginRefusals } from "./record-login-refusals.ts";

/** The schedule, or a retry by the platform, would send credentials that the service has refused. */
export class LoginWithheld extends Error {
  override readonly name = "LoginWithheld";
  readonly end: Skipped;

  constructor(explanation: string) {
    super(explanation);
    this.end = { outcome: "SKIPPED", reason: "LOGIN_REFUSED", explanation };
  }
}

/** Sends nothing. Throws `CREDENTIALS_INVALID`, and `LoginWithheld` to a schedule or a retry. */
export async function openAccount(
  ports: RunPorts,
  account: string,
  rateLimiter: RateLimiter,
  trigger: Trigger,
): Promise<CountingService> {
  const service = await ports.openService(rateLimiter);
  try {
    const isSchedule = trigger === "schedule";
    if (isSchedule || ports.requestId !== undefined) {
      await withholdRefused(ports, account, isSchedule, service.credentialsVersion);
    }
  } catch (error) {
    await service.close();
    throw error;
  }
  return recordLoginRefusals(service, ports, account);
}

async function withholdRefused(
  { store, clock, requestId }: RunPorts,
  account: string,
  isSchedule: boolean,
  version: string | undefined,
): Promise<void> {
  const refusal = await readRefusal(store, account);
  const untilMs = refusal && withheldUntil(refusal, version, clock.now());
  if (refusal === undefined || untilMs === undefined) return;
  const { code, refused_at, request_id } = refusal;
  if (!isSchedule && request_id !== requestId) return;
  const remedy =
    code === "AUTHORIZATION_EXPIRED"
      ? "Authorize again with the command that the error of that run names"
      : "Store other credentials";
  throw new LoginWithheld(
    `The service refused the login of this account at ${refused_at} (${code}), and the credentials have not changed since. So that the account is not locked, scheduled runs send no login before ${new Date(untilMs).toISOString()}. ${remedy}, or start a check or a run by hand: once the service accepts a login, the schedule works again.`,
  );
}
