// Handles one request of the simulator: log, limit, fault, response, delivery.

import { createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import { type Delivery, deliver, deliveryOf } from "./delivery.ts";
import { FaultPlan, sorted } from "./faults.ts";
import { Limiter } from "./limiter.ts";
import { type LoggedRequest, RequestLog, RetryAfterWatch } from "./request-log.ts";
import { Service } from "./service.ts";
import { readRequest, type ServiceRequest } from "./service-request.ts";
import { Sessions } from "./sessions.ts";
import { changedSettings, type Settings, type SettingsChange } from "./settings.ts";
import type { SimulatedResponse } from "./simulated-response.ts";
import type { World } from "./world.ts";

/** Not made for each response: an error with its own stack costs more than most answers. */
const GONE = new Error("The client is gone.");

export class Front {
  readonly log = new RequestLog();
  readonly #sessions = new Sessions();
  readonly #clock: Clock;
  readonly #service: Service;
  readonly #limiter = new Limiter();
  readonly #watch = new RetryAfterWatch();
  #settings: Settings;
  #faults: FaultPlan;

  constructor(world: World, clock: Clock, settings: Settings) {
    this.#clock = clock;
    this.#service = new Service(world, this.#sessions);
    this.#settings = settings;
    this.#faults = new FaultPlan(settings.faults);
  }

  get settings(): Settings {
    return this.#settings;
  }

  configure(change: SettingsChange): void {
    this.#settings = changedSettings(this.#settings, change);
    if (change.faults !== undefined) this.#faults = new FaultPlan(change.faults);
  }

  /** Access tokens end with the sessions. */
  endSessions(): void {
    this.#sessions.endAll();
    this.#settings.bearer?.endAccessTokens();
  }

  async handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort(GONE));
    const request = readRequest(message);
    const entry = this.#arrive(request);
    try {
      const refused = this.#limiter.refuse(entry.arrivedAtMs, this.#settings.limits);
      const body = await text(message);
      const seen = { n: entry.n, ...target(request) };
      await this.#settings.onRequest?.(seen);
      const delivery = this.#delivery(request, body, entry, refused);
      const { latencyMs } = this.#settings;
      const delayMs = typeof latencyMs === "number" ? latencyMs : latencyMs(seen);
      if (delayMs > 0) await this.#clock.sleep(delayMs, gone.signal);
      await this.#send(response, delivery, entry, gone.signal);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    } finally {
      this.log.leave();
    }
  }

  #arrive(request: ServiceRequest): LoggedRequest {
    const arrivedAtMs = this.#clock.now();
    const duringRetryAfter = this.#watch.lasts(arrivedAtMs);
    return this.log.arrive({ ...target(request), arrivedAtMs, duringRetryAfter });
  }

  /** Bytes are charged as soon as the response is made: latency must not make used capacity look free. */
  #delivery(
    request: ServiceRequest,
    body: string,
    entry: LoggedRequest,
    refused: SimulatedResponse | undefined,
  ): Delivery {
    const settings = this.#settings;
    const nowMs = this.#clock.now();
    const fault = refused === undefined ? this.#faults.next(request, nowMs) : undefined;
    const { wrong, damage, endsSessions } = sorted(fault);
    if (endsSessions) this.endSessions();
    const made =
      refused ??
      (wrong === undefined
        ? this.#service.respond(request, body, settings, nowMs)
        : this.#service.wrongResponse(wrong, request, body, settings, nowMs));
    const balanced = settings.hasBalancer ? withBalancer(made, entry.n, nowMs) : made;
    const delivery = deliveryOf(balanced, {
      encoding: settings.encoding,
      acceptEncoding: request.acceptEncoding,
      damage,
    });
    if (refused === undefined) this.#limiter.charge(nowMs, delivery.decodedBytes);
    entry.faulty = fault !== undefined;
    entry.loggedIn = request.endpoint === "login" && made.status === 200 && wrong === undefined;
    entry.bytes = delivery.decodedBytes;
    entry.answeredAtMs = nowMs;
    return delivery;
  }

  async #send(
    response: ServerResponse,
    delivery: Delivery,
    entry: LoggedRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const nowMs = this.#clock.now();
    if (delivery.head !== undefined) entry.status = delivery.head.status;
    response.setHeader("date", new Date(nowMs).toUTCString());
    await deliver(response, delivery, this.#clock, signal);
    // Not awaited: the request is over, the note is for those that follow.
    void this.#watch.sent(delivery.head?.headers ?? {}, nowMs);
  }
}

/** As AWS does it: two cookies of a week, of which one is for other sites. */
const withBalancer = (made: SimulatedResponse, n: number, nowMs: number): SimulatedResponse => {
  const attributes = `Expires=${new Date(nowMs + 604_800_000).toUTCString()}; Path=/`;
  const value = createHash("sha512").update(String(n)).digest("base64");
  const own = [made.headers["set-cookie"] ?? []].flat();
  const cookies = [`ALB=${value}; ${attributes}`, `ALBCORS=${value}; ${attributes}; SameSite=None; Secure`];
  return { ...made, headers: { ...made.headers, "set-cookie": [...own, ...cookies] } };
};

const target = ({ endpoint, uuid }: ServiceRequest): Pick<LoggedRequest, "endpoint" | "uuid"> =>
  uuid === undefined ? { endpoint } : { endpoint, uuid };
