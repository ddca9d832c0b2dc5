// Why a snapshot is held, in a sentence, and what a person does about it.

import { type Advice, advise, setting } from "../job/errors/advice.ts";
import type { HoldFacts } from "../job/run/record/held-mark.ts";
import { countText, missingReasons, unstableText } from "../job/run/record/texts.ts";
import type { Words } from "../job/run/run-ports.ts";
import { type Style, say } from "./style.ts";

type Of<Reason extends HoldFacts["reason"]> = Extract<HoldFacts, { readonly reason: Reason }>;

interface HoldWords<Facts> {
  readonly why: (facts: Facts) => string;
  readonly next: (facts: Facts) => Advice;
}

const HOLDS: { readonly [Reason in HoldFacts["reason"]]: HoldWords<Of<Reason>> } = {
  NO_EVENTS: {
    why: ({ listed, missing }) => {
      const what =
        listed === 0
          ? "An empty list is nearly always the service's fault"
          : `None of the ${countText(listed)} listed events has details, nearly always by the service's fault`;
      return `${what}, and publishing it empties the tables.${without(missing)}`;
    },
    next: () => ["Ask the service's operator first."],
  },
  LIST_UNSTABLE: {
    why: ({ most, ...list }) => `${unstableText(list)} The limit is ${countText(most)}.`,
    next: () => advise`${setting("maxMissingPercent")} sets the limit.`,
  },
  DROPPED: {
    why: ({ events, seen, limit, missing }) =>
      `${countText(events)} events are ${((1 - events / seen) * 100).toFixed(1)} % fewer than the ${countText(seen)} that readers see now; the limit is ${limit} %.${without(missing)}`,
    next: () => advise`${setting("maxDropPercent")} sets the limit.`,
  },
  GREW: {
    why: ({ events, seen, limit, missing }) =>
      `${countText(events)} events are ${growth(events, seen)} the ${countText(seen)} that readers see now; the limit is ${limit} %.${without(missing)}`,
    next: () => advise`${setting("maxGrowthPercent")} sets the limit.`,
  },
  FEW_ROWS: {
    why: ({ listed, events, limit, before, missing }) =>
      `Only ${countText(events)} of ${countText(listed)} listed events have details: ${reasons(missing)}. At least ${limit} % must${besides(before)}, whatever is set.`,
    next: () => ["Accepting lets similar later ones pass."],
  },
  MISSING: {
    why: ({ listed, most, before, missing }) => {
      const lacking = `${countText(allOf(missing))} of ${countText(listed)} listed events have no details`;
      return most === undefined
        ? `${lacking}: ${reasons(missing)}. Some were asked for once only, as fewer were accepted then.`
        : `${lacking} (${countText(most)} may${besides(before)}): ${reasons(missing)}.`;
    },
    next: ({ listed, most, before = 0, missing }) => {
      if (most === undefined) return ["Start a run again, which asks twice."];
      const percent = Math.floor(((allOf(missing) - before) / listed) * 100) + 1;
      return advise`Accepting, or ${setting("maxMissingPercent", percent)}, lets later ones pass.`;
    },
  },
  UNREADABLE: {
    why: ({ listed, newly, uuids }) =>
      `${countText(newly)} of ${countText(listed)} listed events cannot be read, while others can: ${firstNamed(uuids, newly)}.`,
    next: () => [
      "Ask the service's operator about them. Accepting lets later ones that lack only these pass.",
    ],
  },
  REQUIRED: {
    why: ({ events, lacking, most, fields }) => {
      const named = fields.filter((field) => field.events > 0);
      const places = named.map((field) => `${field.pointer} in ${countText(field.events)}`);
      return `${countText(lacking)} of ${countText(events)} events lack a required field: ${firstNamed(places)}. ${countText(most)} may.`;
    },
    next: () =>
      advise`${setting("require")} names the fields, ${setting("maxMissingPercent")} how many events may lack one.`,
  },
  PINNED: {
    why: ({ publication }) =>
      `A rollback has pinned the account to what readers see (publication ${Number(publication)}).`,
    next: () => [],
  },
};

const MOST_NAMED = 3;
const MOST_REASONS = 2;

const reasons = (missing: Missing): string => missingReasons(missing, MOST_REASONS);

const without = (missing: Missing): string => (allOf(missing) === 0 ? "" : ` Missing: ${reasons(missing)}.`);

/** `a, b, c and 9 more`. */
export function firstNamed(some: readonly string[], all = some.length): string {
  const more = all - MOST_NAMED;
  return `${some.slice(0, MOST_NAMED).join(", ")}${more > 0 ? ` and ${countText(more)} more` : ""}`;
}

function wordsOf<Reason extends HoldFacts["reason"]>({ reason }: Of<Reason>): HoldWords<Of<Reason>> {
  return HOLDS[reason] as HoldWords<Of<Reason>>;
}

/** One or two sentences that are stored: neither a setting nor a command is in them. */
export function whyHeld(facts: HoldFacts): string {
  return wordsOf(facts).why(facts);
}

/** The words of a process whose log has this style. */
export function wordsIn(style: Style): Words {
  return { hold: whyHeld, say: (advice) => say(advice, style) };
}

/** What a person does, beside accepting the snapshot. */
export function nextOfHold(facts: HoldFacts | undefined): Advice {
  return facts === undefined ? [] : wordsOf(facts).next(facts);
}

type Missing = Of<"MISSING">["missing"];

const allOf = ({ gone, forbidden, rejected }: Missing): number => gone + forbidden + rejected;

function besides(before: number | undefined): string {
  return before === undefined ? "" : `, besides ${countText(before)} accepted before`;
}

/** `25.0 % more than`; of nothing there is no percentage. */
function growth(events: number, seen: number): string {
  return seen === 0 ? "more than" : `${((events / seen - 1) * 100).toFixed(1)} % more than`;
}
