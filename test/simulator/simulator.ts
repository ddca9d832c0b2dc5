// The Brand Metrics Service as a real HTTP server with scripted faults, which remembers what it was asked.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import { realClock } from "./clocks.ts";
import { type Evolving, evolve } from "./evolve.ts";
import { Front } from "./front.ts";
import { WINDOW_MS } from "./limiter.ts";
import type { Counts, LoggedRequest } from "./request-log.ts";
import {
  changedSettings,
  DEFAULT_SETTINGS,
  type Outage,
  type SettingsChange,
  type SimulatorOptions,
} from "./settings.ts";
import { makeEvents, type SimulatedEvent } from "./simulated-event.ts";
import { type EventChange, World } from "./world.ts";

/** Uuids are spelled as they are listed; methods that name an unknown one throw. */
export class Simulator {
  readonly #world: World;
  readonly #front: Front;
  readonly #server: Server;
  readonly #clock: Clock;
  readonly #stopping = new AbortController();
  #url = "";
  #outage: Outage["kind"] | undefined;
  #failure: { readonly error: unknown } | undefined;

  private constructor({ clock = realClock(), events, port: _, outage: __, ...change }: SimulatorOptions) {
    this.#clock = clock;
    this.#world = new World(events ?? makeEvents(100));
    this.#front = new Front(this.#world, clock, changedSettings(DEFAULT_SETTINGS, change));
    const handle = (message: IncomingMessage, response: ServerResponse): void =>
      void this.#handle(message, response);
    this.#server = createServer(handle);
    // A connection that the server closes just as it is used again would be an unscripted fault.
    this.#server.keepAliveTimeout = 600_000;
  }

  /** Listens on 127.0.0.1; rejects with Node's error if it cannot. */
  static async start(options: SimulatorOptions = {}): Promise<Simulator> {
    const simulator = new Simulator(options);
    const port = await simulator.#listen(options.port ?? 0);
    simulator.#url = `http://127.0.0.1:${port}`;
    if (options.outage !== undefined) await simulator.#beginOutage(options.outage, port);
    return simulator;
  }

  get url(): string {
    return this.#url;
  }

  /** E-mail and password, as they stand now. */
  get credentials(): { readonly email: string; readonly password: string } {
    const { email, password } = this.#front.settings.account;
    return { email, password };
  }

  /** Counted over what came since the start or the last `reset()`. */
  get counts(): Counts {
    return this.#front.log.counts(this.#front.settings.limits.windowMs ?? WINDOW_MS);
  }

  /** Every request since the start or the last `reset()`, in the order of arrival. */
  get requests(): readonly Readonly<LoggedRequest>[] {
    return this.#front.log.entries;
  }

  /** Sets the counts to zero. Sessions, limits and faults stay as they are. */
  reset(): void {
    this.#front.log.reset();
  }

  /** Replaces each named setting as a whole. Naming `faults` restarts their counting. */
  configure(change: SettingsChange): void {
    this.#front.configure(change);
  }

  /** Access tokens of OAuth end as well. */
  endSessions(): void {
    this.#front.endSessions();
  }

  /** The truth: what `is_listed=true` shows now, whatever the list's options add to it. */
  listed(): readonly SimulatedEvent[] {
    return this.#world.shown(true);
  }

  /** The exact text that the detail's envelope holds. */
  detailSource(uuid: string): string {
    return this.#world.get(uuid).source;
  }

  /** All events, archived and unlisted ones too. */
  get size(): number {
    return this.#world.size;
  }

  has(uuid: string): boolean {
    return this.#world.find(uuid) !== undefined;
  }

  setEvents(events: readonly SimulatedEvent[]): void {
    this.#world.replaceAll(events);
  }

  add(...events: readonly SimulatedEvent[]): void {
    this.#world.add(...events);
  }

  change(uuid: string, change: EventChange): void {
    this.#world.change(uuid, change);
  }

  archive(uuid: string): void {
    this.#world.change(uuid, { archived: true });
  }

  unlist(uuid: string): void {
    this.#world.change(uuid, { listed: false });
  }

  /** Listed, but the account may not read it: 403. */
  restrict(uuid: string): void {
    this.#world.refuse(uuid, 403);
  }

  /** Listed, but gone when it is asked for. */
  vanish(uuid: string, status: 404 | 410 = 404): void {
    this.#world.refuse(uuid, status);
  }

  /** Returns the port. */
  async #listen(port: number): Promise<number> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : port;
  }

  async #beginOutage({ kind, ms }: Outage, port: number): Promise<void> {
    this.#outage = kind;
    if (kind === "refuse") await this.#close();
    const end = async (): Promise<void> => {
      await this.#clock.sleep(ms, this.#stopping.signal);
      this.#outage = undefined;
      if (kind === "refuse") await this.#listen(port);
    };
    end().catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) this.#failure ??= { error };
    });
  }

  async #close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  /** Ends all connections; rejects if a hook (`onRequest`, `raw`, `latencyMs`, `nextUrl`) had thrown. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#server.listening) await this.#close();
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (this.#outage === "reset") response.socket?.resetAndDestroy();
      else if (this.#outage === "hang") await once(response, "close");
      else if (isControl(message)) control(message, response, this);
      else await this.#front.handle(message, response);
    } catch (error) {
      this.#failure ??= { error };
      response.destroy();
    }
  }
}

export const CONTROL = { change: "/_simulator/change", counts: "/_simulator/counts" } as const;

interface Controlled extends Evolving {
  readonly counts: Counts;
}

const isControl = ({ url = "" }: IncomingMessage): boolean => url.startsWith("/_simulator/");

/** Control requests need no authentication, and are neither counted nor limited. */
const control = (
  { method = "", url = "" }: IncomingMessage,
  response: ServerResponse,
  simulator: Controlled,
): void => {
  const [status, value] = reply(`${method} ${url}`, simulator);
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(value)}\n`);
};

const reply = (asked: string, simulator: Controlled): readonly [status: number, value: unknown] => {
  if (asked === `POST ${CONTROL.change}`) return [200, evolve(simulator)];
  if (asked === `GET ${CONTROL.counts}`) return [200, readable(simulator.counts)];
  return [404, { message: `There are POST ${CONTROL.change} and GET ${CONTROL.counts}.` }];
};

const readable = ({ detailsByUuid, statuses, ...counts }: Counts): unknown => ({
  ...counts,
  distinctDetails: detailsByUuid.size,
  statuses: Object.fromEntries(statuses),
});
