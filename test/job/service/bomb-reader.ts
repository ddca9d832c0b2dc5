// Reads the list of a service at an address in a process of its own, and says what came of it and how much memory it took.

import { readFileSync } from "node:fs";
import { systemClock, systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { createEventService } from "../../../lambdas/job/service/http-event-service.ts";
import { RateLimiter } from "../../../lambdas/job/service/rate-limit/rate-limiter.ts";

const [, , baseUrl = ""] = process.argv;
const nothing = (): void => undefined;
const service = createEventService({
  baseUrl,
  credentials: { method: "basic", email: "a@example.test", password: "secret" },
  isListed: "any",
  concurrency: 1,
  rateLimiter: new RateLimiter({
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    windowMs: 60_000,
    clock: systemClock,
  }),
  clock: systemClock,
  random: systemRandom,
  logger: { debug: nothing, info: nothing, warn: nothing, error: nothing },
});
const outcome = await service.list().then(
  ({ events, rejected }) => `${events.length} events, ${rejected} rejected`,
  (error: unknown) => (error instanceof Error ? error.message : String(error)),
);
await service.close();
// Not `maxRSS`, which begins with the memory of the process that started this one.
const [, peakKiB = ""] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
process.stdout.write(JSON.stringify({ outcome, peakMiB: Number(peakKiB) / 1_024 }));
