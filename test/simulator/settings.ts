// How a simulated service behaves: what tests choose, and what holds where they choose nothing.

import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import { type Account, CANARY_ACCOUNT } from "./account.ts";
import type { Encoding } from "./delivery.ts";
import type { DetailOptions } from "./detail-endpoint.ts";
import type { FaultRule } from "./faults.ts";
import type { Limits } from "./limiter.ts";
import type { ListOptions } from "./list-endpoint.ts";
import type { Endpoint } from "./service-request.ts";
import type { SessionOptions } from "./sessions.ts";
import type { SimulatedEvent } from "./simulated-event.ts";

/** A request as hooks see it; `n` counts from 1 in the order of arrival, over all endpoints. */
export interface SeenRequest {
  readonly n: number;
  readonly endpoint: Endpoint;
  readonly uuid?: string;
}

/** Decides which access tokens open the protected endpoints: the identity provider. */
export interface BearerTokens {
  /** Whether a request with this token is accepted; if so, one of its requests is used. */
  admits(accessToken: string): boolean;
  endAccessTokens(): void;
}

/** What may change while the simulator runs. */
export interface Settings {
  readonly account: Account;
  readonly session: SessionOptions;
  /** A load balancer in front: each response brings two new cookies. */
  readonly hasBalancer: boolean;
  /** Undefined: the service has no OAuth. */
  readonly bearer: BearerTokens | undefined;
  readonly list: ListOptions;
  readonly detail: DetailOptions;
  readonly limits: Limits;
  /** Between a request and its response. */
  readonly latencyMs: number | ((request: SeenRequest) => number);
  /** Used when the client accepts it. */
  readonly encoding: Encoding | undefined;
  readonly faults: readonly FaultRule[];
  /** Called before a request is answered; the response waits for it. */
  readonly onRequest: ((request: SeenRequest) => void | Promise<void>) | undefined;
}

export type SettingsChange = Partial<Omit<Settings, "account">> & { readonly account?: Partial<Account> };

/** For so long after its start the service gives no answer, and counts no request. */
export interface Outage {
  readonly kind: "refuse" | "reset" | "hang";
  readonly ms: number;
}

export interface SimulatorOptions extends SettingsChange {
  /** Session ages, windows, latency, `Date` and `Retry-After` go by it. Default: real time. */
  readonly clock?: Clock;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: none. */
  readonly outage?: Outage | undefined;
  /** Default: `makeEvents(100)`. */
  readonly events?: readonly SimulatedEvent[];
}

export const DEFAULT_SETTINGS: Settings = {
  account: CANARY_ACCOUNT,
  session: {},
  hasBalancer: false,
  bearer: undefined,
  list: {},
  detail: {},
  limits: {},
  latencyMs: 0,
  encoding: undefined,
  faults: [],
  onRequest: undefined,
};

/** Each setting is replaced whole; only the account keeps what is not named. */
export const changedSettings = (settings: Settings, change: SettingsChange): Settings => ({
  ...settings,
  ...change,
  account: { ...settings.account, ...change.account },
});
