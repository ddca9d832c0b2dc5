import { describe, expect, test } from "vitest";
import { isReallyStale } from "./resources.ts";

const NOW = new Date("2026-11-27T12:00:00Z");
const ago = (hours: number): Date => new Date(NOW.getTime() - hours * 60 * 60_000);

describe("an alarm stale that is raised after 26 hours", () => {
  test.each([
    { what: "was deployed 25 hours ago", deployedAt: ago(25), publishedAt: undefined, isStale: false },
    { what: "was deployed 26 hours ago", deployedAt: ago(26), publishedAt: undefined, isStale: true },
    { what: "has published an hour ago", deployedAt: ago(500), publishedAt: ago(1), isStale: false },
    { what: "has published two hours ago", deployedAt: ago(500), publishedAt: ago(2), isStale: true },
    { what: "was deployed at an unknown time", deployedAt: undefined, publishedAt: undefined, isStale: true },
  ])("fails the deployment: $isStale, where the account $what", ({ deployedAt, publishedAt, isStale }) => {
    expect(isReallyStale({ hours: 26, deployedAt, publishedAt }, NOW)).toBe(isStale);
  });
});
