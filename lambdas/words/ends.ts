// What follows an end: by its code or its reason, the command that a person runs next, and why a start was skipped.

import { type Advice, type CommandRef, command, inOrder } from "../job/errors/advice.ts";
import type { ErrorCode } from "../job/errors/sync-error.ts";
import type { HeldCommands } from "../job/run/record/held-mark.ts";
import { OTHER_VERSION_TEXT, type RunResult, type Skipped } from "../job/run/record/run-result.ts";
import { nextOfHold } from "./hold.ts";
import { type Style, say } from "./style.ts";

/** A command that a person runs next, and what it is for: `To publish it anyway`. */
export interface Step {
  readonly purpose: string;
  readonly command: CommandRef;
}

/** A check may pass after the cause is gone, and would change nothing. */
const AGAIN: Step = { purpose: "Then start again", command: command("run") };
const RESUME: Step = { purpose: "To resume it", command: command("run") };
export const START: Step = { purpose: "To start a run", command: command("run") };
const AUTHORIZE: Step = { purpose: "To authorize again", command: command("authorize") };

/**
 * @param code of the error; null for a defect, others of another version
 * @param isUnfinished the next run resumes it
 */
export function afterFailure(code: unknown, isUnfinished: boolean): Step {
  if (code === ("AUTHORIZATION_EXPIRED" satisfies ErrorCode)) return AUTHORIZE;
  return isUnfinished ? RESUME : AGAIN;
}

type SkipReason = Skipped["reason"] | "NOT_SET_UP";

/** The run log has no message of a start that was skipped. */
const SKIPPED: Readonly<Record<SkipReason, string>> = {
  LEASE_TAKEN: "Another process worked on the account.",
  LEASE_LOST: "Another process took the account over.",
  LOGIN_REFUSED: "The service had refused the login, and the credentials had not changed since.",
  OTHER_VERSION: `The run ${OTHER_VERSION_TEXT}.`,
  NOT_SET_UP: "The credentials were not set up.",
};

/** Of a reason of another version nothing is known. */
export function whySkipped(reason: string | null): string | undefined {
  return new Map(Object.entries(SKIPPED)).get(reason ?? "");
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

/** Whether the advice has the command already, with the same decision. */
export function names(advice: Advice, { command: { command, decision } }: Step): boolean {
  return advice.some(
    (part) =>
      typeof part !== "string" && "command" in part && part.command === command && part.decision === decision,
  );
}
