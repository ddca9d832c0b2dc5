// Time as a run sees it. It comes in from outside, so a test can run hours in milliseconds.

export interface Clock {
  /** Milliseconds since the Unix epoch: for instants that are written or shown. It may be set back or forward at any time. */
  now(): number;
  /** Milliseconds since an instant that only this process knows: for spans of time. It never goes back, and nothing sets it. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
