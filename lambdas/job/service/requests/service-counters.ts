// What a run has used of the service so far: the columns `requests` to `bytes` of `sync_runs`.

export interface ServiceCounts {
  /** Attempts sent, logins and retries included. */
  readonly requests: number;
  /** Attempts sent after a failure. A request sent again after a new login is not a retry. */
  readonly retries: number;
  /** Responses with status 429. */
  readonly throttled: number;
  /** Logins begun, whatever the number of attempts each took. */
  readonly logins: number;
  /** Body bytes as the budget counts them: after decoding. */
  readonly bytes: number;
}

export class ServiceCounters {
  #hasResponded = false;
  readonly #counts = { requests: 0, retries: 0, throttled: 0, logins: 0, bytes: 0 };

  /** Whether any response has come so far. */
  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  get counts(): ServiceCounts {
    return { ...this.#counts };
  }

  responded(): void {
    this.#hasResponded = true;
  }

  add(name: keyof ServiceCounts, amount = 1): void {
    this.#counts[name] += amount;
  }
}
