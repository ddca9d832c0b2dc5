// A process that was stopped for a while sends nothing before it knows that the lease is still its own.

import { expect, test } from "vitest";
import { Lease } from "../../../../lambdas/job/run/lease/lease.ts";
import { permitWhileHeld } from "../../../../lambdas/job/run/lease/lease-account.ts";
import { encodeLease } from "../../../../lambdas/job/run/lease/lease-file.ts";
import { RateLimiter } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { layout } from "../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../lambdas/job/storage/store.ts";
import { ManualClock } from "../../../simulator/manual-clock.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { MemoryStore } from "../../storage/memory-store.ts";

const ACCOUNT = "uk";
const RUN = "2026-01-05T06-00-00.000Z";
const UNUSED = { use: [], windowMs: 60_000 };

/** A lease that was written now, and a limiter that asks it. */
async function leased() {
  const clock = new ManualClock(Date.UTC(2026, 0, 5, 6));
  const store = new MemoryStore(clock);
  const holder = { token: "ours" };
  const ports = { store: accountStore(store, ACCOUNT), clock, logger: new LogLines() };
  const lease = await Lease.take(ports, { run_id: RUN, holder, ...UNUSED }, undefined);
  if (lease === undefined) throw new Error("the lease is taken");
  const limits = { requestsPerMinute: 100, bytesPerMinute: "unlimited", windowMs: 60_000 } as const;
  const rateLimiter = new RateLimiter({ ...limits, clock });
  permitWhileHeld(rateLimiter, lease);
  return { clock, store, lease, rateLimiter };
}

test("a request goes at once while the lease is younger than a minute", async () => {
  const { clock, rateLimiter } = await leased();

  clock.advance(59_999);

  expect(rateLimiter.tryAcquire("detail")).toBeDefined();
});

test("a request of a process that was stopped for a minute waits until the lease is written again", async () => {
  const { clock, rateLimiter } = await leased();
  clock.advance(60_000);

  const permit = rateLimiter.tryAcquire("detail");
  const later = await rateLimiter.acquire("detail");

  expect(permit).toBeUndefined();
  expect(later).toBeDefined();
});

test("a computer that slept, and whose monotonic clock stood still, asks as well", async () => {
  const { clock, rateLimiter } = await leased();
  clock.set(60_000);

  expect(rateLimiter.tryAcquire("detail")).toBeUndefined();
});

test("a request never goes where another process has taken the lease", async () => {
  const { clock, store, lease, rateLimiter } = await leased();
  const other = { run_id: RUN, holder: { token: "theirs" }, ...UNUSED };
  store.put(layout(ACCOUNT).lease, encodeLease(other, clock.now()));
  clock.advance(60_000);

  const waiting = rateLimiter.acquire("detail", lease.lost);

  await expect(waiting).rejects.toThrow("Another process took over the lease");
});

test("a lease that is overdue is written once, and once more where it is overdue again", async () => {
  const { rateLimiter } = await leased();
  let writes = 0;
  let written = (): void => undefined;
  permitWhileHeld(rateLimiter, {
    isOverdue: true,
    record: async () => {
      writes += 1;
    },
    whenWritten: (onWritten) => {
      written = onWritten;
    },
  });
  const permits = [1, 2, 3].map(() => rateLimiter.tryAcquire("detail"));
  const first = writes;

  written();
  permits.push(rateLimiter.tryAcquire("detail"));

  expect(permits).toEqual([undefined, undefined, undefined, undefined]);
  expect([first, writes]).toEqual([1, 2]);
});
