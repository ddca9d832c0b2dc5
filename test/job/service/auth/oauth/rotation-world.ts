// One place of tokens at a real identity provider, and as many processes on it as a test wants.

import {
  CurrentCredentials,
  type OAuthCredentials,
} from "../../../../../lambdas/job/credentials/credentials.ts";
import type { TokenStore } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import { byTokens } from "../../../../../lambdas/job/service/auth/oauth/by-tokens.ts";
import { TokenEndpoint } from "../../../../../lambdas/job/service/auth/oauth/token-endpoint.ts";
import {
  type RotatedTokens,
  TokenRotation,
} from "../../../../../lambdas/job/service/auth/oauth/token-rotation.ts";
import type { Transport } from "../../../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../../../lambdas/job/service/http/undici-transport.ts";
import type { AuthenticationMethod } from "../../../../../lambdas/job/service/requests/authenticator.ts";
import { ServiceCounts } from "../../../../../lambdas/job/service/requests/sender.ts";
import type { IdentityChange } from "../../../../simulator/identity/identity-settings.ts";
import { type ManualClock, PatientClock } from "../../../../simulator/manual-clock.ts";
import { MemoryTokenStore } from "../../../credentials/tokens/memory-token-store.ts";
import { LogLines } from "../../../runtime/log-lines.ts";
import { Authorized } from "./authorized.ts";

export interface ProcessOptions {
  readonly store?: TokenStore;
  readonly transport?: Transport;
  readonly credentials?: OAuthCredentials;
  readonly readAgain?: () => Promise<OAuthCredentials>;
  readonly keepTryingUntilMs?: number;
}

export class RotationWorld<Time extends Clock = ManualClock> implements AsyncDisposable {
  readonly clock: Time;
  readonly authorized: Authorized;
  readonly log = new LogLines();
  readonly counts = new ServiceCounts();
  readonly #network = new UndiciTransport({ connections: 8, timeoutMs: 2_000 });

  private constructor(clock: Time, authorized: Authorized) {
    this.clock = clock;
    this.authorized = authorized;
  }

  static start(identity: IdentityChange = {}): Promise<RotationWorld> {
    return RotationWorld.startWith(new PatientClock(Date.UTC(2026, 10, 21, 6)), identity);
  }

  /** With another clock than one that passes every pause at once. */
  static async startWith<Time extends Clock>(
    clock: Time,
    identity: IdentityChange = {},
  ): Promise<RotationWorld<Time>> {
    return new RotationWorld(clock, await Authorized.start(clock, identity));
  }

  get network(): Transport {
    return this.#network;
  }

  /** The network, with something that is done before each request, or when its response has come. */
  sending({ before, after }: { before?: () => unknown; after?: () => unknown }): Transport {
    return {
      close: () => this.#network.close(),
      send: async (request) => {
        await before?.();
        const response = await this.#network.send(request);
        await after?.();
        return response;
      },
    };
  }

  /** The store, where some of its methods are others. */
  store(changes: Partial<TokenStore> = {}): TokenStore {
    const store = new MemoryTokenStore(this.authorized.place, this.clock);
    return {
      place: store.place,
      isCreatedEmpty: store.isCreatedEmpty,
      read: () => store.read(),
      claim: (version) => store.claim(version),
      replace: (version, tokens) => store.replace(version, tokens),
      ...changes,
    };
  }

  process(options: ProcessOptions = {}): TokenRotation {
    const { clock, log, counts, authorized } = this;
    const { store = this.store(), transport = this.#network } = options;
    const credentials = new CurrentCredentials(
      options.credentials ?? authorized.provider.credentials,
      options.readAgain,
      log,
    );
    const endpoint = new TokenEndpoint({
      authUrl: new URL(authorized.provider.url),
      transport,
      headers: { "user-agent": "test" },
      now: () => clock.now(),
      counts,
    });
    return new TokenRotation({
      store,
      storedVersion: "none",
      endpoint,
      credentials,
      counts,
      clock,
      logger: log,
      keepTryingUntilMs: options.keepTryingUntilMs,
    });
  }

  /** The method of a start. */
  method(transport: Transport = this.#network): AuthenticationMethod {
    const { clock, log, counts, authorized } = this;
    return byTokens(
      new CurrentCredentials(authorized.provider.credentials, undefined, log),
      { ...authorized.options(), tokens: this.store() },
      {
        headers: { "user-agent": "test" },
        sender: { counts },
        clock,
        logger: log,
        proxies: undefined,
        transport,
      },
    );
  }

  /** Reads the tokens and renews them, as a start does that finds the access token refused. */
  async renewOnce(rotation: TokenRotation = this.process()): Promise<RotatedTokens> {
    return rotation.renew(await rotation.read(), new AbortController().signal);
  }

  /** Whether the stored access token opens the service, and its refresh token gives another one. */
  async isWhole(): Promise<boolean> {
    const { provider, place } = this.authorized;
    if (!provider.admits(place.tokens?.access_token ?? "")) return false;
    const { tokens } = await this.renewOnce();
    return provider.admits(tokens.access_token);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#network.close();
    await this.authorized.provider.stop();
  }
}
