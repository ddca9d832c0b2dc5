// The identity provider of a world: renews access tokens, and may give a new refresh token each time.

import type { Setting } from "../plan/plan.ts";
import { answerOf, type ServiceAnswer } from "../service/virtual-service.ts";

interface Spent {
  readonly refreshToken: string;
  readonly atMs: number;
  readonly answer: ServiceAnswer;
}

export class IdentityProvider {
  readonly #options: Setting["tokens"];
  readonly #knownAfterMs: number;
  readonly #now: () => number;
  readonly #access = new Map<string, { readonly fromMs: number; readonly untilMs: number }>();
  #refreshToken = "refresh0";
  #spent: Spent | undefined;
  #granted = 0;

  constructor({ tokens, knownAfterMs }: Pick<Setting, "tokens" | "knownAfterMs">, now: () => number) {
    this.#options = tokens;
    this.#knownAfterMs = knownAfterMs;
    this.#now = now;
  }

  /** The one refresh token that is valid. */
  get refreshToken(): string {
    return this.#refreshToken;
  }

  get lifeMs(): number {
    return this.#options.lifeMs;
  }

  isValid(accessToken: string): boolean {
    const { fromMs, untilMs } = this.#access.get(accessToken) ?? { fromMs: 0, untilMs: 0 };
    return this.#now() >= fromMs && this.#now() < untilMs;
  }

  endAccess(): void {
    this.#access.clear();
  }

  /** A person authorizes: a new access token for the refresh token of this moment. */
  grant(): string {
    this.#granted += 1;
    const accessToken = `access${this.#granted}`;
    const nowMs = this.#now();
    this.#access.set(accessToken, {
      fromMs: nowMs + this.#knownAfterMs,
      untilMs: nowMs + this.#options.lifeMs,
    });
    return accessToken;
  }

  /** A request of the token endpoint. */
  refresh(body: string): ServiceAnswer {
    const given = refreshTokenIn(body);
    const nowMs = this.#now();
    if (given !== this.#refreshToken) {
      const isRepeated =
        given === this.#spent?.refreshToken && nowMs - this.#spent.atMs <= this.#options.graceMs;
      return isRepeated && this.#spent ? this.#spent.answer : answerOf(400, '{"error":"invalid_grant"}');
    }
    const accessToken = this.grant();
    if (this.#options.rotates) this.#refreshToken = `refresh${this.#granted}`;
    const expires = `"expires_in":${this.#options.lifeMs / 1_000}`;
    const answer = answerOf(
      200,
      `{"access_token":"${accessToken}","token_type":"Bearer",${expires},"refresh_token":"${this.#refreshToken}"}`,
    );
    if (this.#options.rotates) this.#spent = { refreshToken: given, atMs: nowMs, answer };
    return answer;
  }
}

export function refreshTokenIn(body: string): string {
  return new URLSearchParams(body).get("refresh_token") ?? "";
}
