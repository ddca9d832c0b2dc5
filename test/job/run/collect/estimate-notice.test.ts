import { expect, it } from "vitest";
import { sayEstimate } from "../../../../lambdas/job/run/collect/estimate.ts";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { acquired, setUp } from "../../service/rate-limit/rate-limiter-setup.ts";

const notice = (options: Partial<RateLimiterOptions>) => {
  const { rateLimiter } = setUp(options);
  const log = new LogLines();
  const said = (): readonly string[] => log.text.split("\n").filter((line) => line !== "");
  return { rateLimiter, say: (events: number) => sayEstimate(events, rateLimiter, log), said };
};

it("a run of more than a minute says before it starts how long it takes", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(600);

  expect(said()).toEqual([expect.stringContaining("600 events, about 3 min")]);
});

it("a shorter run says nothing", () => {
  const { say, said } = notice({ requestsPerMinute: 200 });

  say(180);

  expect(said()).toEqual([]);
});

it("bodies that make it much longer are said once twenty are known", () => {
  const { say, rateLimiter, said } = notice({ bytesPerMinute: 1_000_000 });

  const sayLeft = say(900);
  for (let left = 899; left > 850; left -= 1) {
    if (left === 899) acquired(rateLimiter).settle(100_000);
    sayLeft(left);
  }

  expect(said()).toEqual([
    expect.stringMatching(/880 events, about 1 h \d+ min\. A higher --bytes-per-minute/),
  ]);
});
