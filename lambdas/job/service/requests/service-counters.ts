// How much of the service a run has used so far: the columns `requests` to `bytes` of `sync_runs`.

export interface ServiceCounts {
  /** Attempts sent, logins and repetitions among them. */
  readonly requests: number;
  /** Attempts that were sent again after a failure; a request sent again after a renewed login is none. */
  readonly retries: number;
  /** Answers with status 429. */
  readonly throttled: number;
  /** Sessions asked for, however many attempts one took. */
  readonly logins: number;
  /** Body bytes as they came over the wire. */
  readonly bytes: number;
}

export class ServiceCounters {
  #counts: ServiceCounts = { requests: 0, retries: 0, throttled: 0, logins: 0, bytes: 0 };

  get counts(): ServiceCounts {
    return this.#counts;
  }

  add(name: keyof ServiceCounts, amount = 1): void {
    this.#counts = { ...this.#counts, [name]: this.#counts[name] + amount };
  }
}
