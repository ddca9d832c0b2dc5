import { describe, expect, it } from "vitest";
import { ServiceHealth } from "../../../../lambdas/job/service/requests/api-client.ts";

/** Each character is an attempt: "." succeeded, "x" failed. */
function after(attempts: string): boolean {
  const health = new ServiceHealth();
  for (const attempt of attempts) {
    if (attempt === "x") health.failed();
    else health.succeeded();
  }
  return health.isStruggling;
}

describe("a service", () => {
  it.each([
    ["that was not asked yet", "", false],
    ["whose first requests fail", "x".repeat(9), false],
    ["that answers nothing", "x".repeat(10), true],
    ["of which 3 % of the requests fail", `x${".".repeat(32)}`.repeat(30), false],
    ["of which every sixth request fails", "x.....".repeat(50), false],
    ["of which every fourth request fails", "x...".repeat(50), true],
    ["that has failed fifty requests ago", "x".repeat(40) + ".".repeat(41), false],
    ["that began to fail just now", ".".repeat(1_000) + "x".repeat(10), true],
  ])("%s: struggles %#", (_, attempts, isStruggling) => {
    expect(after(attempts)).toBe(isStruggling);
  });
});
