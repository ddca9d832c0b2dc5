// The identity provider of OAuth 2.0 as a real HTTP server at its own address, with scripted faults.

import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import { realClock } from "../clocks.ts";
import { deliver, deliveryOf } from "../delivery.ts";
import { refusal, type SimulatedResponse } from "../simulated-response.ts";
import { AuthorizeEndpoint } from "./authorize-endpoint.ts";
import { Grants, type IssuedTokens } from "./grants.ts";
import { IdentityFaultPlan, type IdentityTarget, sortedIdentityFault } from "./identity-faults.ts";
import { type IdentityCounts, IdentityLog, type LoggedIdentityRequest } from "./identity-log.ts";
import {
  changedIdentity,
  DEFAULT_IDENTITY,
  type IdentityChange,
  type IdentitySettings,
} from "./identity-settings.ts";
import { tokenEndpoint } from "./token-endpoint.ts";

export interface IdentityOptions extends IdentityChange {
  /** Lifetimes and the time of grace go by it. Default: real time. */
  readonly clock?: Clock;
  /** Default: any free one. */
  readonly port?: number;
}

export class IdentityProvider {
  readonly #clock: Clock;
  readonly #grants = new Grants();
  readonly #pages = new AuthorizeEndpoint(this.#grants);
  readonly #log = new IdentityLog();
  readonly #server: Server;
  #settings: IdentitySettings;
  #faults: IdentityFaultPlan;
  #url = "";
  #failure: { readonly error: unknown } | undefined;

  private constructor({ clock, port: _, ...change }: IdentityOptions) {
    this.#clock = clock ?? realClock();
    this.#settings = changedIdentity(DEFAULT_IDENTITY, change);
    this.#faults = new IdentityFaultPlan(this.#settings.faults);
    this.#server = createServer((message, response) => void this.#handle(message, response));
    // A connection that the server closes just as it is used again would be an unscripted fault.
    this.#server.keepAliveTimeout = 600_000;
  }

  /** Listens on 127.0.0.1; rejects with Node's error if it cannot. */
  static async start(options: IdentityOptions = {}): Promise<IdentityProvider> {
    const provider = new IdentityProvider(options);
    provider.#server.listen(options.port ?? 0, "127.0.0.1");
    await once(provider.#server, "listening");
    const address = provider.#server.address();
    if (typeof address === "object" && address !== null) provider.#url = `http://127.0.0.1:${address.port}`;
    return provider;
  }

  /** `{auth_url}`. */
  get url(): string {
    return this.#url;
  }

  /** As they stand in the credentials' JSON. */
  get credentials(): {
    readonly method: "oauth";
    readonly client_id: string;
    readonly client_secret: string;
  } {
    const { id, secret } = this.#settings.client;
    return { method: "oauth", client_id: id, client_secret: secret };
  }

  get user(): { readonly email: string; readonly password: string } {
    return this.#settings.user;
  }

  get counts(): IdentityCounts {
    return this.#log.counts(this.#grants);
  }

  /** Every request since the start or the last `reset()`, in the order of arrival. */
  get requests(): readonly Readonly<LoggedIdentityRequest>[] {
    return this.#log.entries;
  }

  /** Forgets the requests. What was granted, settings and faults stay as they are. */
  reset(): void {
    this.#log.reset();
  }

  /** Client and user keep what is not named; each other setting is replaced whole. Naming `faults` restarts their counting. */
  configure(change: IdentityChange): void {
    this.#settings = changedIdentity(this.#settings, change);
    if (change.faults !== undefined) this.#faults = new IdentityFaultPlan(change.faults);
  }

  /** The tokens of a new authorization, as if a person had just given it. */
  authorize(): IssuedTokens {
    return this.#grants.authorize(this.#clock.now(), this.#settings);
  }

  /** Whether the service accepts a request with this access token; if so, one of its requests is used. */
  admits(accessToken: string): boolean {
    return this.#grants.admits(accessToken, this.#clock.now(), this.#settings.accessToken);
  }

  /** Every access token ends; refresh tokens stay good. */
  endAccessTokens(): void {
    this.#grants.endAccessTokens();
  }

  /** The person takes back every authorization. */
  revokeAll(): void {
    this.#grants.revokeAll();
  }

  async stop(): Promise<void> {
    if (this.#server.listening) {
      const closed = once(this.#server, "close");
      this.#server.close();
      this.#server.closeAllConnections();
      await closed;
    }
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    try {
      const asked = await readIdentityRequest(message);
      const { parameters, ...seen } = asked;
      const entry = this.#log.arrive({
        ...seen,
        parameters: Object.fromEntries(parameters),
        headers: message.headers,
        arrivedAtMs: this.#clock.now(),
      });
      try {
        await this.#respond(asked, entry, response, gone.signal);
      } finally {
        this.#log.leave(entry);
      }
    } catch (error) {
      if (gone.signal.aborted) return;
      this.#failure ??= { error };
      response.destroy();
    }
  }

  async #respond(
    asked: IdentityRequest,
    entry: LoggedIdentityRequest,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    const fault = this.#faults.next(asked.target);
    if (fault?.kind === "reset-before") {
      response.socket?.resetAndDestroy();
      return;
    }
    const { replacement, damage } = sortedIdentityFault(fault);
    const delivery = deliveryOf(replacement ?? this.#made(asked), {
      encoding: undefined,
      acceptEncoding: "",
      damage,
    });
    const { latencyMs } = this.#settings;
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, signal);
    if (delivery.head !== undefined) entry.status = delivery.head.status;
    await deliver(response, delivery, this.#clock, signal);
  }

  #made({ path, method, parameters }: IdentityRequest): SimulatedResponse {
    const nowMs = this.#clock.now();
    if (path === "/oauth/token") {
      if (method !== "POST") return refusal(405, "Use POST.", { allow: "POST" });
      return tokenEndpoint(parameters, this.#grants, this.#settings, nowMs);
    }
    if (path !== "/oauth/authorize") return refusal(404, "No such resource.");
    if (method === "GET") return this.#pages.ask(parameters, this.#settings);
    if (method === "POST") return this.#pages.submit(parameters, this.#settings, nowMs);
    return refusal(405, "Use GET.", { allow: "GET, POST" });
  }
}

interface IdentityRequest {
  /** Undefined: no endpoint of the provider, or a token request without a known grant. */
  readonly target: IdentityTarget | undefined;
  readonly method: string;
  readonly path: string;
  /** Of the form where there is one, else of the address. */
  readonly parameters: URLSearchParams;
}

/** A form counts only if its type says so (RFC 6749 §4.1.3): JSON, for one, has no parameters. */
const readIdentityRequest = async (message: IncomingMessage): Promise<IdentityRequest> => {
  const { method = "", url = "", headers } = message;
  const { pathname: path, searchParams } = new URL(url, "http://127.0.0.1");
  const isForm = /^application\/x-www-form-urlencoded\b/.test(headers["content-type"] ?? "");
  const body = await text(message);
  const parameters = method === "POST" ? new URLSearchParams(isForm ? body : "") : searchParams;
  return { target: targetOf(path, parameters), method, path, parameters };
};

const targetOf = (path: string, parameters: URLSearchParams): IdentityTarget | undefined => {
  if (path === "/oauth/authorize") return "authorize";
  const grant = path === "/oauth/token" ? parameters.get("grant_type") : null;
  return grant === "authorization_code" || grant === "refresh_token" ? grant : undefined;
};
