// Which requests go wrong, and how.

import type { Endpoint } from "./service-request.ts";

/** Faults that replace the service's own response. */
export type WrongResponse =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string;
    }
  /** A web page, with status 200. */
  | { readonly kind: "html" }
  /** Status 200, JSON by its type, with this content. */
  | { readonly kind: "body"; readonly text: string | Buffer }
  | { readonly kind: "redirect"; readonly location: string; readonly status?: number }
  /** Another event's detail; of detail requests only. */
  | { readonly kind: "wrong-uuid" };

/** Faults that damage the service's own response on its way. */
export type Damage =
  /** The connection is reset before any byte. */
  | { readonly kind: "reset" }
  | { readonly kind: "reset-mid-body" }
  /** The connection ends after half of the announced bytes. */
  | { readonly kind: "truncate" }
  /** Half of the body, announced as if it were complete: for HTTP nothing is wrong. */
  | { readonly kind: "cut" }
  /** The body comes in `pieces` (default 4), with this pause before each. */
  | { readonly kind: "slow-body"; readonly pauseMs: number; readonly pieces?: number }
  /** Nothing comes, until the client gives up. */
  | { readonly kind: "hang" }
  | { readonly kind: "hang-mid-body" };

/** The service answers with this status. */
export const status = (code: number, headers: Readonly<Record<string, string>> = {}): WrongResponse => ({
  kind: "status",
  status: code,
  headers,
});

export type Fault =
  | WrongResponse
  | Damage
  /** All sessions and access tokens end before the request is looked at. */
  | { readonly kind: "end-sessions" };

export interface FaultMatch {
  /** Default: every endpoint. */
  readonly path?: Endpoint;
  readonly uuid?: string;
  /** Any of these events. */
  readonly uuids?: ReadonlySet<string>;
  /** About so large a share of the events, from 0 to 1, spread over all of them: always the same. */
  readonly share?: number;
  /** The first matching request that is hit, from 1; default 1. */
  readonly nth?: number;
  /** How many matching requests are hit from there on; default 1; `Infinity`: all. */
  readonly times?: number;
  /** `nth` and `times` count for every event by itself: "the first request of every detail". */
  readonly each?: boolean;
  /** Only so long from the first matching request on. */
  readonly forMs?: number;
}

export interface FaultRule {
  readonly match: FaultMatch;
  readonly fault: Fault;
}

/** Counts the matching requests of every rule. The limits come first: a request refused by them is not counted. */
export class FaultPlan {
  readonly #rules: readonly {
    readonly rule: FaultRule;
    readonly seen: Map<string, number>;
    untilMs: number | undefined;
  }[];

  constructor(rules: readonly FaultRule[]) {
    this.#rules = rules.map((rule) => ({ rule, seen: new Map(), untilMs: undefined }));
  }

  /** The fault of the first rule that hits this request; every rule that matches counts it. */
  next(request: { readonly endpoint: Endpoint; readonly uuid?: string }, nowMs: number): Fault | undefined {
    let hit: Fault | undefined;
    for (const state of this.#rules) {
      const { rule, seen } = state;
      const { path, uuid, uuids, share, nth = 1, times = 1, each = false, forMs = Infinity } = rule.match;
      if (path !== undefined && path !== request.endpoint) continue;
      if (uuid !== undefined && uuid !== request.uuid) continue;
      if (uuids !== undefined && !uuids.has(request.uuid ?? "")) continue;
      if (share !== undefined && !isOfShare(request.uuid, share)) continue;
      const key = each ? (request.uuid ?? "") : "";
      const count = (seen.get(key) ?? 0) + 1;
      seen.set(key, count);
      state.untilMs ??= nowMs + forMs;
      if (count >= nth && count < nth + times && nowMs < state.untilMs) hit ??= rule.fault;
    }
    return hit;
  }
}

/** By the end of the uuid: its beginning is the order in which a client may ask. */
const isOfShare = (uuid: string | undefined, share: number): boolean =>
  uuid !== undefined && Number.parseInt(uuid.slice(-8), 16) < share * 2 ** 32;

const RESPONSES: ReadonlySet<Fault["kind"]> = new Set<WrongResponse["kind"]>([
  "status",
  "html",
  "body",
  "redirect",
  "wrong-uuid",
]);

/** What a fault affects. */
export const sorted = (
  fault: Fault | undefined,
): { readonly wrong?: WrongResponse; readonly damage?: Damage; readonly endsSessions: boolean } => {
  if (fault === undefined) return { endsSessions: false };
  if (fault.kind === "end-sessions") return { endsSessions: true };
  return isWrongResponse(fault)
    ? { wrong: fault, endsSessions: false }
    : { damage: fault, endsSessions: false };
};

const isWrongResponse = (fault: Fault): fault is WrongResponse => RESPONSES.has(fault.kind);
