// The options of `npm run simulator`, and the errors in them.

import { parseArgs } from "node:util";
import type { DetailShape } from "./detail-endpoint.ts";
import type { Fault, FaultRule } from "./faults.ts";
import type { IdentityOptions } from "./identity/identity-provider.ts";
import type { RefreshTokenOptions } from "./identity/identity-settings.ts";
import { averaged, RETRY_AFTER } from "./limiter.ts";
import { cursorOf, type ListShape, type SentPage } from "./list-endpoint.ts";
import type { SessionEnd } from "./sessions.ts";
import type { SimulatorOptions } from "./settings.ts";
import { makeEvents, type SimulatedEvent } from "./simulated-event.ts";

export const DEFAULT_PORT = 8080;

export const USAGE = `Starts a simulated Brand Metrics Service on this computer.

Usage: npm run simulator -- [options]

  --events N               how many events it has (100)
  --port N                 where it listens; 0: any free port (${DEFAULT_PORT})
  --latency MS             how long each response takes, in milliseconds (0)
  --requests-per-minute N  answers 429 beyond this (no limit)
  --bytes-per-minute N     answers 429 beyond this, before compressing (no limit)
  --limit-window SECONDS   averages both limits over so long, 10 to 3600 (60)
  --retry-after HOW        in a 429: seconds (default), http-date, unix, unix-ms; in place of Retry-After ratelimit,
                           ratelimit-reset, x-ratelimit-reset; or none
  --balancer               each response sets two new cookies of a load balancer (none)
  --outage HOW             gives no answer at first: refuse, reset or hang (no outage)
  --outage-seconds N       lasts so long from its start, in seconds (60)
  --encoding ENCODING      compresses bodies with gzip or br (not)
  --shape SHAPE            of the list: array, data-array (default), data-map, data-events, result-items
  --detail-shape SHAPE     of one event: bare, data (default), data-event, result-item
  --page-size N            events on a page of the list (all on one)
  --next HOW               where the next page is named: link (default), body, cursor or none
  --asked HOW              what a query says of a page: page (default), page0, offset, after or cursor
  --refuse PERCENT         refuses the details of so many events, as gateways do (0)
  --refuse-status STATUS   with 404 (default), 403 or 410
  --refuse-times N         the first N requests for each of them (1)
  --refuse-seconds S       instead all requests for them, for S seconds from the first one on
  --refuse-retry-after S   and names a Retry-After, in seconds (none)
  --late-list N            answers the first N requests for the list with 202 (0)
  --odd-details N          answers the first request for every Nth event with {}, null, an error, 202 or another event (none)
  --session-seconds N      how long a session is good, in seconds (for ever)
  --session-end HOW        how a session that has ended is answered: 401 (default), 419, 440 or redirect
  --known-after MS         so long after it was made, a session or token is answered with 401 (0)
  --auth-port N            also starts the identity provider of OAuth, on this port (none)
  --token-seconds N        how long an access token is good, in seconds (3600)
  --rotation KIND          of refresh tokens: single-use (default), same, silent (the response names none)
  --grace SECONDS          how long a spent refresh token is still taken (0)
  --redirect-uri URI       the address that the client has registered (http://127.0.0.1:8912/callback)
  --help                   shows this

Examples: npm run simulator -- --events 2000 --latency 50 --requests-per-minute 200
          npm run simulator -- --auth-port 8090 --token-seconds 60
          npm run simulator -- --events 5000 --refuse 0.8 --refuse-status 403
`;

const OUTAGES = ["refuse", "reset", "hang"] as const;
const ENCODINGS = ["gzip", "br"] as const;
const LIST_SHAPES: readonly ListShape[] = ["array", "data-array", "data-map", "data-events", "result-items"];
const NEXT = ["link", "body", "cursor", "none"] as const;
const ASKED = ["page", "page0", "offset", "after", "cursor"] as const;
const REFUSALS = ["404", "403", "410"] as const;
const ROTATIONS: readonly NonNullable<RefreshTokenOptions["rotation"]>[] = ["single-use", "same", "silent"];
const SESSION_ENDS = { "401": 401, "419": 419, "440": 440, redirect: "redirect" } as const satisfies Record<
  string,
  SessionEnd
>;
const DETAIL_SHAPES: readonly DetailShape[] = ["bare", "data", "data-event", "result-item"];

const NEXT_CURSOR = {
  top: (page: SentPage): string => `"next_cursor":${JSON.stringify(cursorOf(page) ?? null)}`,
};

export interface SimulatorCommand {
  readonly service: SimulatorOptions;
  /** Undefined: no identity provider. */
  readonly identity: IdentityOptions | undefined;
}

/** Undefined if help was requested. Throws an `Error` whose message is for the user. */
export const readCommandLine = (args: readonly string[]): SimulatorCommand | undefined => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      events: { type: "string", default: "100" },
      port: { type: "string", default: String(DEFAULT_PORT) },
      latency: { type: "string", default: "0" },
      "requests-per-minute": { type: "string" },
      "bytes-per-minute": { type: "string" },
      "limit-window": { type: "string", default: "60" },
      "retry-after": { type: "string", default: "seconds" },
      balancer: { type: "boolean", default: false },
      outage: { type: "string" },
      "outage-seconds": { type: "string", default: "60" },
      encoding: { type: "string" },
      shape: { type: "string", default: "data-array" },
      "detail-shape": { type: "string", default: "data" },
      "page-size": { type: "string" },
      next: { type: "string", default: "link" },
      asked: { type: "string", default: "page" },
      refuse: { type: "string", default: "0" },
      "refuse-status": { type: "string", default: "404" },
      "refuse-times": { type: "string", default: "1" },
      "refuse-seconds": { type: "string" },
      "refuse-retry-after": { type: "string" },
      "late-list": { type: "string", default: "0" },
      "odd-details": { type: "string" },
      "session-seconds": { type: "string" },
      "session-end": { type: "string", default: "401" },
      "known-after": { type: "string", default: "0" },
      "auth-port": { type: "string" },
      "token-seconds": { type: "string", default: "3600" },
      rotation: { type: "string", default: "single-use" },
      grace: { type: "string", default: "0" },
      "redirect-uri": { type: "string", default: "http://127.0.0.1:8912/callback" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const requests = values["requests-per-minute"];
  const bytes = values["bytes-per-minute"];
  const pageSize = values["page-size"];
  const next = oneOf("--next", values.next, NEXT);
  const { encoding, outage } = values;
  const outageMs = 1_000 * whole("--outage-seconds", values["outage-seconds"], 1, 3_600);
  const authPort = values["auth-port"];
  const events = makeEvents(whole("--events", values.events, 0, 1_000_000));
  const odd = values["odd-details"];
  const sessionSeconds = values["session-seconds"];
  const knownAfterMs = whole("--known-after", values["known-after"], 0, 600_000);
  const service = {
    events,
    port: whole("--port", values.port, 0, 65_535),
    latencyMs: whole("--latency", values.latency, 0, 600_000),
    limits: averaged(
      1_000 * whole("--limit-window", values["limit-window"], 10, 3_600),
      {
        ...(requests === undefined ? {} : { requests: whole("--requests-per-minute", requests, 1) }),
        ...(bytes === undefined ? {} : { bytes: whole("--bytes-per-minute", bytes, 1) }),
      },
      oneOf("--retry-after", values["retry-after"], RETRY_AFTER),
    ),
    hasBalancer: values.balancer,
    ...(outage === undefined ? {} : { outage: { kind: oneOf("--outage", outage, OUTAGES), ms: outageMs } }),
    ...(encoding === undefined ? {} : { encoding: oneOf("--encoding", encoding, ENCODINGS) }),
    list: {
      shape: oneOf("--shape", values.shape, LIST_SHAPES),
      ...(pageSize === undefined ? {} : { pageSize: whole("--page-size", pageSize, 1) }),
      ...(next === "cursor" ? { next: "none" as const, members: NEXT_CURSOR } : { next }),
      asked: oneOf("--asked", values.asked, ASKED),
    },
    detail: { shape: oneOf("--detail-shape", values["detail-shape"], DETAIL_SHAPES) },
    session: {
      knownAfterMs,
      ends: SESSION_ENDS[oneOf("--session-end", values["session-end"], keysOf(SESSION_ENDS))],
      ...(sessionSeconds === undefined
        ? {}
        : { maxAgeMs: 1_000 * whole("--session-seconds", sessionSeconds, 1, 86_400) }),
    },
    faults: [
      gatewayRefusals({
        share: percent("--refuse", values.refuse) / 100,
        status: oneOf("--refuse-status", values["refuse-status"], REFUSALS),
        times: whole("--refuse-times", values["refuse-times"], 1),
        seconds: optional(values["refuse-seconds"], (text) => whole("--refuse-seconds", text, 1)),
        retryAfter: optional(values["refuse-retry-after"], (text) => whole("--refuse-retry-after", text, 0)),
      }),
      {
        match: { path: "list", times: whole("--late-list", values["late-list"], 0, 1_000) },
        fault: NOT_READY,
      } as const,
      ...(odd === undefined ? [] : oddDetails(events, whole("--odd-details", odd, 1))),
    ],
  };
  const identity = {
    accessToken: {
      lifetimeMs: 1_000 * whole("--token-seconds", values["token-seconds"], 1, 86_400),
      knownAfterMs,
    },
    refreshToken: {
      rotation: oneOf("--rotation", values.rotation, ROTATIONS),
      graceMs: 1_000 * whole("--grace", values.grace, 0, 86_400),
    },
    client: { redirectUris: [values["redirect-uri"]] },
  };
  return {
    service,
    identity:
      authPort === undefined ? undefined : { ...identity, port: whole("--auth-port", authPort, 0, 65_535) },
  };
};

interface Refusals {
  readonly share: number;
  readonly status: (typeof REFUSALS)[number];
  readonly times: number;
  readonly seconds: number | undefined;
  readonly retryAfter: number | undefined;
}

/** What a gateway, a firewall or a service in a restart answers for events that are there. */
const gatewayRefusals = ({ share, status, times, seconds, retryAfter }: Refusals): FaultRule => ({
  match: {
    ...{ path: "detail", share, each: true },
    ...(seconds === undefined ? { times } : { times: Infinity, forMs: seconds * 1_000 }),
  },
  fault: {
    ...{ kind: "status", status: Number(status) },
    ...(retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }),
  },
});

const optional = <T>(text: string | undefined, read: (text: string) => T): T | undefined =>
  text === undefined ? undefined : read(text);

const percent = (option: string, text: string): number => {
  const value = /^\d{1,3}(?:\.\d{1,4})?$/.test(text) ? Number(text) : Number.NaN;
  if (value <= 100) return value;
  throw new Error(`${option} is a number from 0 to 100, not "${text}".`);
};

const NOT_READY: Fault = { kind: "status", status: 202 };

const ODD: readonly Fault[] = [
  { kind: "body", text: "{}" },
  { kind: "body", text: "null" },
  { kind: "body", text: '{"error":"try again"}' },
  NOT_READY,
  { kind: "wrong-uuid" },
];

/** The odd answers in turn, for the first request of every Nth event. */
const oddDetails = (events: readonly SimulatedEvent[], every: number): readonly FaultRule[] => {
  const hit = events.filter((_, index) => index % every === every - 1);
  return ODD.map((fault, nth) => ({
    match: {
      path: "detail",
      uuids: new Set(hit.filter((_, index) => index % ODD.length === nth).map(({ uuid }) => uuid)),
      each: true,
    },
    fault,
  }));
};

const keysOf = <T extends Record<string, unknown>>(object: T): readonly (keyof T & string)[] =>
  Object.keys(object);

const whole = (option: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number => {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new Error(`${option} is a whole number from ${least} to ${most}, not "${text}".`);
};

const oneOf = <T extends string>(option: string, text: string, choices: readonly T[]): T => {
  const choice = choices.find((each) => each === text);
  if (choice !== undefined) return choice;
  throw new Error(`${option} is one of ${choices.join(", ")}, not "${text}".`);
};
