import { expect, it } from "vitest";
import { EstimateNotice } from "../../../../lambdas/job/run/collect/estimate.ts";
import type { RateLimiterOptions } from "../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { acquired, setUp } from "../../service/rate-limit/rate-limiter-setup.ts";

const notice = (options: Partial<RateLimiterOptions>) => {
  const { rateLimiter } = setUp(options);
  const log = new LogLines();
  const said = (): readonly string[] => log.text.split("\n").filter((line) => line !== "");
  return { rateLimiter, notice: new EstimateNotice(rateLimiter, log), said };
};

it("a run of more than a minute says before it starts how long it takes", () => {
  const { notice: long, said } = notice({ requestsPerMinute: 200 });

  long.begin(600);

  expect(said()).toEqual([expect.stringContaining("600 events, about 3 min")]);
});

it("a shorter run says nothing", () => {
  const { notice: short, said } = notice({ requestsPerMinute: 200 });

  short.begin(180);

  expect(said()).toEqual([]);
});

it("bodies that make it much longer are said once twenty are known", () => {
  const { notice: large, rateLimiter, said } = notice({ bytesPerMinute: 1_000_000 });

  large.begin(900);
  for (let left = 899; left > 850; left -= 1) {
    if (left === 899) acquired(rateLimiter).settle(100_000);
    large.done(left);
  }

  expect(said()).toEqual([
    expect.stringMatching(/880 events, about 1 h \d+ min\. A higher --bytes-per-minute/),
  ]);
});
