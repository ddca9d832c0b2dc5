// A start that ends without a snapshot because another process works on the account, or because its login is withheld.

import { nameOfExecution } from "../hand-over/execution-name.ts";
import type { LeaseTaken } from "./acquire-lease.ts";
import type { LeaseLost } from "./lease-lost.ts";
import { workOf } from "./lease-name.ts";

export interface Skipped {
  readonly outcome: "SKIPPED";
  readonly reason: "LEASE_TAKEN" | "LEASE_LOST" | "LOGIN_REFUSED";
  readonly explanation: string;
}

/** Another process or an execution had the lease when this process started. */
export function skippedAsTaken({ takenBy, execution, expiresAt }: LeaseTaken): Skipped {
  const work = workOf(takenBy);
  const why =
    execution === undefined
      ? `${capitalized(work)} works on this account; its lease lasts until ${expiresAt} unless it is renewed.`
      : `${capitalized(work)} of this account was handed over to the execution ${nameOfExecution(execution)} of the state machine, and the lease is the execution's until it ends.`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_TAKEN",
    explanation: `${why} Start again when it has ended.`,
  };
}

/** Another process took the lease over while this one worked. */
export function skippedAsLost({ takenBy }: LeaseLost): Skipped {
  const by = takenBy === null ? "" : `: ${workOf(takenBy)}`;
  return {
    outcome: "SKIPPED",
    reason: "LEASE_LOST",
    explanation: `Another process took over the lease of this account${by}. Staged work is kept. Start again when that process has ended.`,
  };
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
