// What a person reads at night of a held snapshot: in few words, each fact once, whatever holds it; by the web hook, whose
// commands are a shell's, and by the mail of AWS.

import { describe, expect, test } from "vitest";
import { NOTIFY_OPTIONS, RUN_OPTIONS, SERVICE_OPTIONS } from "../../../bin/cli/options/options.ts";
import { GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { styleHere } from "../../../bin/cli/output/next-command.ts";
import { notificationText } from "../../../bin/cli/output/notify.ts";
import { guard } from "../../../lambdas/job/run/publish/guard.ts";
import { HOLD_REASONS } from "../../../lambdas/job/run/record/held-mark.ts";
import { runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import { heldMail } from "../../../lambdas/sync/mail.ts";
import { heldCommands, nextOf } from "../../../lambdas/words/ends.ts";
import { whyHeld } from "../../../lambdas/words/hold.ts";
import { HELD, PREVIEW } from "../../sync/rows.ts";

const IN_AWS = {
  environment: { region: "eu-west-1", functionName: "sync", accounts: {}, program: "sync" },
  clock: { now: () => NOW_MS },
};
const RUN = "2026-11-21T06-00-00.000Z";
const NOW_MS = Date.parse("2026-11-21T08:00:00.000Z");

const uuid = (n: number): string => `7c9e6679-7425-40de-944b-e07fc1f909${n}`;
const ALL = {
  ...{ listed: 50_000, events: 50_000, headEvents: 60_000, readings: 3, unstable: 0 },
  ...{ gone: 0, forbidden: 0, rejected: 0, oversize: 0, too_deep: 0, accepted: undefined },
  incomplete: { events: 0, fields: [] },
};
/** Missing for each reason that there is, beside what was accepted. */
const MISSING = {
  ...{ gone: 3_000, forbidden: 2_000, rejected: 1_000, oversize: 300, too_deep: 200, unreadable: 100 },
  accepted: { listed: 50_000, gone: 500, forbidden: 500, rejected: 100 },
};
const LIMITS = { maxDropPercent: 20, maxMissingPercent: 1 };
const lacking = ["date", "brand/name", "score", "status"].map((name) => ({
  pointer: `/${name}`,
  events: 1_000,
}));

/** The longest explanation of each. */
const LONGEST: Readonly<Record<string, Parameters<typeof guard>>> = {
  NO_EVENTS: [{ ...ALL, ...MISSING, events: 0 }, LIMITS],
  LIST_UNSTABLE: [{ ...ALL, unstable: 1_000, readings: 1 }, LIMITS],
  DROPPED: [{ ...ALL, ...MISSING, events: 44_000 }, LIMITS],
  GREW: [
    { ...ALL, ...MISSING, headEvents: 20_000 },
    { ...LIMITS, maxGrowthPercent: 50 },
  ],
  FEW_ROWS: [{ ...ALL, ...MISSING, gone: 30_000, events: 17_000, headEvents: undefined }, LIMITS],
  MISSING: [{ ...ALL, ...MISSING, events: 44_000, headEvents: undefined }, LIMITS],
  UNREADABLE: [
    { ...ALL, rejected: 5, unreadable: 5, newlyUnreadable: [10, 11, 12, 13, 14].map(uuid) },
    LIMITS,
  ],
  REQUIRED: [{ ...ALL, incomplete: { events: 4_000, fields: lacking } }, LIMITS],
};

const EXPLANATIONS: Readonly<Record<string, string>> = {
  PINNED: "A rollback has pinned the account to what readers see (publication 7).",
  MARK_DAMAGED:
    "The file that said why this snapshot is held was damaged. Nothing is known of the reason but this snapshot's counts.",
  OTHER: "Why a later version has held it.",
};

function heldBecause(reason: string) {
  const [counts, limits] = LONGEST[reason] ?? [];
  const hold = counts && limits && guard(counts, limits);
  expect(hold?.reason ?? reason).toBe(reason);
  const explanation = hold ? whyHeld(hold) : EXPLANATIONS[reason];
  return { row: { ...HELD, reason }, explanation, hold, preview: PREVIEW };
}

function hooked(reason: string): string {
  const names = [...SERVICE_OPTIONS, ...RUN_OPTIONS, ...NOTIFY_OPTIONS, "overDamaged", "dryRun"] as const;
  const values = new GivenOptions({ account: "uk", warehouse: "/srv/warehouse" }, {}, "/srv").read(names);
  const result = heldBecause(reason);
  const event = runEvent("uk", result, undefined, (id) => heldCommands(id, styleHere(values)));
  if (event === undefined) throw new Error("no event");
  return notificationText(event, nextOf(result), values, NOW_MS);
}

/** What a person reads of it, but for the labels of its lines. */
function mailed(reason: string): string {
  const { line1, line2, line3, line6 } = heldMail("uk", heldBecause(reason), IN_AWS);
  return [line1, line2, line3, line6].join(" ").replace(/ (?:Why|Or wait):/g, "");
}

const words = (text: string): number => text.split(/\s+/).length;
const withoutCommands = (text: string): string => text.replaceAll(/`[^`]*`/g, "");

describe.each(HOLD_REASONS)("held as %s", (reason) => {
  test("it takes at most 90 words, with the commands of a shell", () => {
    expect(words(hooked(reason))).toBeLessThanOrEqual(90);
  });

  test("it takes at most 75 words in AWS, beside the commands and the labels of the mail's lines", () => {
    expect(words(mailed(reason))).toBeLessThanOrEqual(75);
  });

  test("the snapshot is named in its commands alone, and how old the data are that readers see once", () => {
    for (const text of [withoutCommands(hooked(reason)), mailed(reason)]) {
      expect(text).not.toContain(RUN);
      expect(text.match(/26 h 0 min ago/g)).toHaveLength(1);
      expect(text.match(/\b412\b/g)).toHaveLength(1);
    }
  });
});
