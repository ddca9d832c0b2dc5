import { expect, test } from "vitest";
import { RequestLog } from "./request-log.ts";

const log = (
  ...requests: readonly {
    readonly arrivedAtMs: number;
    readonly answeredAtMs: number;
    readonly bytes: number;
  }[]
): RequestLog => {
  const made = new RequestLog();
  for (const { arrivedAtMs, answeredAtMs, bytes } of requests) {
    const entry = made.arrive({ endpoint: "list", arrivedAtMs, duringRetryAfter: false });
    entry.answeredAtMs = answeredAtMs;
    entry.bytes = bytes;
    made.leave();
  }
  return made;
};

test("the fullest window holds what is less than its length apart, an instant at its very end no more", () => {
  const requests = log(
    { arrivedAtMs: 0, answeredAtMs: 0, bytes: 1 },
    { arrivedAtMs: 500, answeredAtMs: 500, bytes: 20 },
    { arrivedAtMs: 1_000, answeredAtMs: 1_000, bytes: 300 },
  );

  expect(requests.counts(1_000).fullestWindow).toEqual({ requests: 2, bytes: 320 });
  expect(requests.counts(1_001).fullestWindow).toEqual({ requests: 3, bytes: 321 });
  expect(requests.counts(500).fullestWindow).toEqual({ requests: 1, bytes: 300 });
});

test("bytes count by when they were sent, in whatever order the responses were made", () => {
  const requests = log(
    { arrivedAtMs: 0, answeredAtMs: 5_000, bytes: 1 },
    { arrivedAtMs: 1, answeredAtMs: 1, bytes: 20 },
    { arrivedAtMs: 2, answeredAtMs: 5_500, bytes: 300 },
  );

  expect(requests.counts(1_000).fullestWindow.bytes).toBe(301);
});

test("requests without a response yet count as requests, and have no status", () => {
  const requests = new RequestLog();
  requests.arrive({ endpoint: "detail", uuid: "a", arrivedAtMs: 0, duringRetryAfter: true });

  expect(requests.counts(1_000)).toMatchObject({
    requests: 1,
    details: 1,
    maxInFlight: 1,
    requestsDuringRetryAfter: 1,
    bytes: 0,
    statuses: new Map(),
  });
});

test("a reset keeps in flight what is in flight", () => {
  const requests = new RequestLog();
  requests.arrive({ endpoint: "list", arrivedAtMs: 0, duringRetryAfter: false });
  requests.arrive({ endpoint: "list", arrivedAtMs: 0, duringRetryAfter: false });
  requests.leave();

  requests.reset();

  expect(requests.counts(1_000)).toMatchObject({ requests: 0, maxInFlight: 1 });
});
