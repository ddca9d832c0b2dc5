// Which requests to the identity provider go wrong, and how.

import { CANARY } from "../account.ts";
import type { Damage } from "../faults.ts";
import { givenStatus, json, type SimulatedResponse, WAITING_PAGE } from "../simulated-response.ts";

/** What a rule can name: the pages for the person, or one kind of token request. */
export type IdentityTarget = "authorize" | "authorization_code" | "refresh_token";

export type IdentityFault =
  /** The connection is reset before the provider does anything. A `reset` comes after a rotation took effect. */
  | { readonly kind: "reset-before" }
  /** In place of the provider's own response; nothing takes effect. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** A refusal in the words of RFC 6749 §5.2; nothing takes effect. */
  | { readonly kind: "error"; readonly error: string; readonly status?: number }
  /** A web page with status 200; nothing takes effect. */
  | { readonly kind: "html" }
  /** Everything takes effect, and the response is damaged on its way. */
  | Damage;

export interface IdentityFaultRule {
  readonly match: {
    /** Default: every request. */
    readonly target?: IdentityTarget;
    /** The first matching request that is hit, from 1; default 1. */
    readonly nth?: number;
    /** How many are hit from there on; default 1; `Infinity`: all. */
    readonly times?: number;
  };
  readonly fault: IdentityFault;
}

/** Counts the matching requests of every rule. */
export class IdentityFaultPlan {
  readonly #rules: readonly { readonly rule: IdentityFaultRule; seen: number }[];

  constructor(rules: readonly IdentityFaultRule[]) {
    this.#rules = rules.map((rule) => ({ rule, seen: 0 }));
  }

  /** The fault of the first rule that hits a request to `target`. */
  next(target: IdentityTarget | undefined): IdentityFault | undefined {
    let hit: IdentityFault | undefined;
    for (const counted of this.#rules) {
      const { match, fault } = counted.rule;
      if (match.target !== undefined && match.target !== target) continue;
      counted.seen += 1;
      const nth = match.nth ?? 1;
      if (counted.seen >= nth && counted.seen < nth + (match.times ?? 1)) hit ??= fault;
    }
    return hit;
  }
}

/** What a fault puts in place of the provider's response, or does to it. */
export const sortedIdentityFault = (
  fault: Exclude<IdentityFault, { readonly kind: "reset-before" }> | undefined,
): { readonly replacement?: SimulatedResponse; readonly damage: Damage | undefined } => {
  switch (fault?.kind) {
    case "status":
      return { replacement: givenStatus(fault), damage: undefined };
    case "error":
      return { replacement: oauthError(fault.error, fault.status), damage: undefined };
    case "html":
      return { replacement: WAITING_PAGE, damage: undefined };
    default:
      return { damage: fault };
  }
};

export const NOT_STORED = { "cache-control": "no-store", pragma: "no-cache" };

/** A refusal of the token endpoint (RFC 6749 §5.2). The description carries a canary: the client must not repeat it. */
export const oauthError = (error: string, status = 400): SimulatedResponse =>
  json(status, JSON.stringify({ error, error_description: CANARY.body }), NOT_STORED);
