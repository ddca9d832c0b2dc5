// A service client connected to a simulated service, both on a clock that runs faster than real time.

import { METHODS, type Method } from "../../../lambdas/job/credentials/credentials.ts";
import type { ErrorCode } from "../../../lambdas/job/errors/sync-error.ts";
import type { Random } from "../../../lambdas/job/runtime/clock.ts";
import type { Detail, EventList, EventService } from "../../../lambdas/job/service/event-service.ts";
import {
  createEventService,
  type EventServiceOptions,
} from "../../../lambdas/job/service/http-event-service.ts";
import {
  RateLimiter,
  type RateLimiterOptions,
} from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import type { Wait } from "../../../lambdas/job/service/requests/sender.ts";
import { CANARY } from "../../simulator/account.ts";
import { acceleratedClock } from "../../simulator/clocks.ts";
import type { IdentityChange } from "../../simulator/identity/identity-settings.ts";
import { seededRandom } from "../../simulator/seeded-random.ts";
import type { SimulatorOptions } from "../../simulator/settings.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { LogLines } from "../runtime/log-lines.ts";
import { Authorized } from "./auth/oauth/authorized.ts";

/** Thirty seconds of back-off cost a test 15 ms. */
const SPEED = 2_000;

export interface Connection extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly service: EventService;
  readonly rateLimiter: RateLimiter;
  readonly log: LogLines;
  /** But those for the first answer of all, which every connection begins with. */
  readonly waits: readonly Wait[];
  /** The identity provider and the stored tokens of the method `oauth`. */
  readonly authorized: Authorized;
}

export type ConnectionOptions = Partial<EventServiceOptions> & {
  readonly method?: Method;
  readonly identity?: IdentityChange;
  readonly limits?: Partial<RateLimiterOptions>;
  readonly seed?: number;
};

const random = (seed: number): Random => ({ next: seededRandom(seed), token: () => "token" });

export async function connect(
  simulated: SimulatorOptions = {},
  options: ConnectionOptions = {},
): Promise<Connection> {
  const { method = "session", identity = {}, limits = {}, seed = 1, ...changes } = options;
  const clock = simulated.clock ?? acceleratedClock(SPEED);
  const authorized = await Authorized.start(clock, identity);
  const { provider } = authorized;
  const simulator = await Simulator.start({ clock, events: [], bearer: provider, ...simulated });
  const log = new LogLines();
  const waits: Wait[] = [];
  const rateLimiter = new RateLimiter({
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    windowMs: 60_000,
    clock,
    ...limits,
  });
  const service = createEventService({
    baseUrl: simulator.url,
    credentials: method === "oauth" ? provider.credentials : { method, ...simulator.credentials },
    oauth: authorized.options(),
    isListed: "true",
    concurrency: 64,
    rateLimiter,
    clock,
    random: random(seed),
    logger: log,
    onWait: (wait) => {
      if (wait && wait.kind !== "silent") waits.push(wait);
    },
    ...changes,
  });
  return {
    simulator,
    service,
    rateLimiter,
    log,
    waits,
    authorized,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await simulator.stop();
      await provider.stop();
    },
  };
}

/** How a client of this kind fails that asks for the list. */
export async function failedList(simulated: SimulatorOptions = {}, options: ConnectionOptions = {}) {
  await using connection = await connect(simulated, options);
  const { service, simulator, log } = connection;
  const error = await errorOf(service.list());
  return { error, text: said(error, log), client: service.counts, served: simulator.counts };
}

export interface Fetched {
  readonly list: EventList;
  /** By uuid. */
  readonly details: ReadonlyMap<string, Detail>;
}

/** The list and every detail, `atOnce` at a time. The first error stops it. */
export async function fetchAll(service: EventService, atOnce: number): Promise<Fetched> {
  const list = await service.list();
  const details = new Map<string, Detail>();
  const abort = new AbortController();
  const rest = Iterator.from(list.events);
  const worker = async (): Promise<void> => {
    for (const { uuid, requestAs } of rest) details.set(uuid, await service.detail(requestAs, abort.signal));
  };
  const workers = Array.from({ length: atOnce }, worker);
  try {
    await Promise.all(workers);
  } catch (error) {
    abort.abort(error);
    await Promise.allSettled(workers);
    throw error;
  }
  return { list, details };
}

/** The event texts that came, by uuid. */
export const texts = ({ details }: Fetched): ReadonlyMap<string, string> =>
  new Map([...details].flatMap(([uuid, detail]) => (detail.kind === "event" ? [[uuid, detail.event]] : [])));

/** What must have come, by the simulator's word. */
export const truth = (simulator: Simulator): ReadonlyMap<string, string> =>
  new Map(simulator.listed().map(({ uuid, source }) => [uuid.toLowerCase(), source]));

/** The error of a promise that must reject. */
export const errorOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error;
  throw new Error("did not reject");
};

/** Everything an error and the log say, causes and fields included. */
export const said = (error: unknown, log: LogLines): string => {
  const parts: string[] = [log.text];
  for (let each = error; each instanceof Error; each = each.cause) {
    parts.push(each.stack ?? "", each.message, JSON.stringify(each), JSON.stringify(Object.entries(each)));
  }
  return parts.join("\n");
};

export const secrets: readonly string[] = [
  ...Object.values(CANARY),
  encodeURIComponent(CANARY.email),
  Buffer.from(`${CANARY.email}:${CANARY.password}`).toString("base64"),
];

/** How the three methods differ where their tests are one table. */
interface MethodTraits {
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

const TRAITS: Readonly<Record<Method, MethodTraits>> = { session, basic, oauth };
export const ALL_METHODS: readonly MethodTraits[] = METHODS.map((method) => TRAITS[method]);
export const RENEWED_METHODS: readonly MethodTraits[] = ALL_METHODS.filter(({ isRenewed }) => isRenewed);
