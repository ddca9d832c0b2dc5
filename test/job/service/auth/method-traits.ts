// How the three methods differ where their tests are one table.

import type { ErrorCode } from "../../../../lambdas/job/errors/sync-error.ts";
import type { Connection, Method } from "../connection.ts";

export interface MethodTraits {
  readonly method: Method;
  /** The error for credentials that are refused. */
  readonly refusal: ErrorCode;
  /** Proofs that a request carries are renewed when they are refused. */
  readonly isRenewed: boolean;
  /** How often the credentials themselves were sent. */
  credentialsSent(connection: Pick<Connection, "simulator" | "authorized">): number;
  /** Renewals beyond the first proof of a run. */
  renewals(connection: Pick<Connection, "simulator" | "authorized">): number;
}

const session: MethodTraits = {
  method: "session",
  refusal: "LOGIN_REFUSED",
  isRenewed: true,
  credentialsSent: ({ simulator }) => simulator.counts.logins,
  renewals: ({ simulator }) => simulator.counts.logins - 1,
};

const basic: MethodTraits = {
  method: "basic",
  refusal: "UNAUTHENTICATED",
  isRenewed: false,
  credentialsSent: ({ simulator }) => simulator.counts.requests,
  renewals: () => 0,
};

/** The first proof is the stored token: it costs no request. */
const oauth: MethodTraits = {
  method: "oauth",
  refusal: "CREDENTIALS_INVALID",
  isRenewed: true,
  credentialsSent: ({ authorized }) => authorized.provider.counts.refreshes,
  renewals: ({ authorized }) => authorized.provider.counts.refreshes,
};

export const ALL_METHODS: readonly MethodTraits[] = [session, basic, oauth];
export const RENEWED_METHODS: readonly MethodTraits[] = ALL_METHODS.filter(({ isRenewed }) => isRenewed);
