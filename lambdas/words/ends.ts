// What follows an end: by its code or its reason, the command that a person runs next, and why a start was skipped.

import { type Advice, type CommandRef, command, inOrder } from "../job/errors/advice.ts";
import { ERROR_CODES, type ErrorCode } from "../job/errors/sync-error.ts";
import type { HeldCommands } from "../job/run/record/held-mark.ts";
import type { RunResult, Skipped } from "../job/run/record/run-result.ts";
import { nextOfHold } from "./hold.ts";
import { type Style, say } from "./style.ts";

/** A command that a person runs next, and what it is for: `To publish it anyway`. */
export interface Step {
  readonly purpose: string;
  readonly command: CommandRef;
}

const FIND: Step = { purpose: "To find the cause", command: command("check") };
const RESUME: Step = { purpose: "To resume it", command: command("run") };
const START: Step = { purpose: "To start a run", command: command("run") };
const AUTHORIZE: Step = { purpose: "To authorize again", command: command("authorize") };

/** Of a run that no later start resumes. */
const AFTER: Readonly<Record<ErrorCode, Step>> = {
  ACCOUNT_DISABLED: FIND,
  AUTHORIZATION_EXPIRED: AUTHORIZE,
  CATALOG_FAILED: FIND,
  CONFIG_INVALID: FIND,
  CREDENTIALS_INVALID: FIND,
  INTERRUPTED: FIND,
  LIST_INCOMPLETE: FIND,
  LOGIN_REFUSED: FIND,
  NOT_ENTITLED: FIND,
  QUERY_FAILED: FIND,
  SERVICE_UNAVAILABLE: FIND,
  SNAPSHOT_INCOMPLETE: FIND,
  SNAPSHOT_NOT_FOUND: FIND,
  STORE_CORRUPT: FIND,
  STORE_FAILED: FIND,
  THROTTLED: FIND,
  UNAUTHENTICATED: FIND,
  UNEXPECTED_RESPONSE: FIND,
};

/**
 * @param code of the error; null for a defect, others of another version
 * @param isUnfinished the next run resumes it
 */
export function afterFailure(code: unknown, isUnfinished: boolean): Step {
  const known = ERROR_CODES.find((each) => each === code);
  const step = known === undefined ? FIND : AFTER[known];
  return isUnfinished && step === FIND ? RESUME : step;
}

type SkipReason = Skipped["reason"] | "NOT_SET_UP";

/** The run log has no message of a start that was skipped. */
const SKIPPED: Readonly<Record<SkipReason, readonly [why: string, next: Step]>> = {
  LEASE_TAKEN: ["Another process worked on the account.", START],
  LEASE_LOST: ["Another process took the account over.", START],
  LOGIN_REFUSED: ["The service had refused the login, and the credentials had not changed since.", FIND],
  OTHER_VERSION: ["Another version of this program began the run, so it cannot be continued.", START],
  NOT_SET_UP: ["The credentials were not set up.", FIND],
};

/** Of a reason of another version nothing is known. */
export function afterSkip(reason: string | null): { readonly why?: string; readonly next: Step } {
  const [why, next] = new Map(Object.entries(SKIPPED)).get(reason ?? "") ?? [undefined, START];
  return { ...(why !== undefined && { why }), next };
}

/** What a person does about an end, beside the step that follows. */
export function nextOf({ error, ...end }: Pick<RunResult, "error" | "hold" | "next">): Advice {
  return error?.next ?? inOrder(nextOfHold(end.hold), end.next);
}

/** The commands that decide on a held snapshot. */
export function heldCommands(snapshotId: string, { command: spell }: Style): HeldCommands {
  const of = (name: "accept" | "diff"): string => spell(command(name, { snapshotId })) ?? name;
  return { accept: of("accept"), diff: of("diff") };
}

/** Why it ended without an error, and what to do; undefined where there is nothing to say. */
export function explained(
  { explanation, hold, next }: Pick<RunResult, "explanation" | "hold" | "next">,
  style: Style,
): string | undefined {
  return say(inOrder(explanation, nextOfHold(hold), next), style) || undefined;
}

/** Whether the advice has the command already. */
export function names(advice: Advice, { command: { command } }: Step): boolean {
  return advice.some((part) => typeof part !== "string" && "command" in part && part.command === command);
}
