// Why a snapshot is held, in a sentence, and what a person does about it.

import { type Advice, advise, inOrder, setting } from "../job/errors/advice.ts";
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
    why: ({ listed }) =>
      `The snapshot has no events: ${listed === 0 ? "the list is empty" : `none of the ${countText(listed)} listed events has details`}.`,
    next: () => [],
  },
  LIST_UNSTABLE: {
    why: ({ most, ...list }) => `${unstableText(list)} The limit is ${countText(most)}.`,
    next: () => advise`${setting("maxMissingPercent")} sets the limit.`,
  },
  DROPPED: {
    why: ({ events, seen, limit }) =>
      `${countText(events)} events are ${((1 - events / seen) * 100).toFixed(1)} % fewer than the ${countText(seen)} that readers see now; the limit is ${limit} %.`,
    next: () => advise`${setting("maxDropPercent")} sets the limit.`,
  },
  GREW: {
    why: ({ events, seen, limit }) =>
      `${countText(events)} events are ${growth(events, seen)} the ${countText(seen)} that readers see now; the limit is ${limit} %.`,
    next: () => advise`${setting("maxGrowthPercent")} sets the limit.`,
  },
  FEW_ROWS: {
    why: ({ listed, events, limit, before }) =>
      `Only ${countText(events)} of ${countText(listed)} listed events have details; at least ${limit} % must${beside(before)}, and no setting changes that.`,
    next: (facts) => acceptMissing(facts),
  },
  MISSING: {
    why: ({ listed, most, before, missing }) => {
      const found = `${countText(allOf(missing))} of ${countText(listed)} listed events have no details`;
      return most === undefined
        ? `${found}, and some of them were asked for once only: when they were, fewer had been accepted.`
        : `${found}; ${countText(most)} may have none${beside(before)}.`;
    },
    next: (facts) => {
      const { listed, most, before = 0, missing } = facts;
      if (most === undefined) return inOrder(acceptMissing(facts), "Or start a run again, which asks twice.");
      const percent = Math.floor(((allOf(missing) - before) / listed) * 100) + 1;
      return inOrder(
        acceptMissing(facts),
        advise`Or allow as many: ${setting("maxMissingPercent", percent)}.`,
      );
    },
  },
  UNREADABLE: {
    why: ({ listed, newly, uuids }) => {
      const more = newly > uuids.length ? `, and ${countText(newly - uuids.length)} more` : "";
      return `${countText(newly)} of ${countText(listed)} listed events cannot be read, while others can: ${uuids.join(", ")}${more}.`;
    },
    next: () => [
      "Ask the service's operator about them. If you can do without them, accept this snapshot: then later ones that lack only these are published.",
    ],
  },
  REQUIRED: {
    why: ({ events, lacking, most, fields }) => {
      const named = fields.filter((field) => field.events > 0);
      const places = named.map((field) => `${field.pointer} in ${countText(field.events)}`).join(", ");
      return `${countText(lacking)} of ${countText(events)} events lack a required field: ${places}. ${countText(most)} may lack one.`;
    },
    next: () =>
      advise`${setting("require")} names the required fields, ${setting("maxMissingPercent")} how many events may lack one.`,
  },
  PINNED: {
    why: ({ snapshot_id, publication }) =>
      `The account is pinned to the snapshot ${snapshot_id} (publication ${publication}).`,
    next: () => [],
  },
};

function wordsOf<Reason extends HoldFacts["reason"]>({ reason }: Of<Reason>): HoldWords<Of<Reason>> {
  return HOLDS[reason] as HoldWords<Of<Reason>>;
}

/** One or two sentences that are stored: neither a setting nor a command is in them. */
export function whyHeld(facts: HoldFacts): string {
  const all = "missing" in facts && allOf(facts.missing) > 0;
  const why = wordsOf(facts).why(facts);
  return all ? `${why} Missing: ${missingReasons(facts.missing)}.` : why;
}

/** Those of a process whose log has this style. */
export function wordsIn(style: Style): Words {
  return { hold: whyHeld, say: (advice) => say(advice, style) };
}

/** What a person does, beside accepting the snapshot. */
export function nextOfHold(facts: HoldFacts | undefined): Advice {
  return facts === undefined ? [] : wordsOf(facts).next(facts);
}

type Missing = Of<"MISSING">["missing"];

const allOf = ({ gone, forbidden, rejected }: Missing): number => gone + forbidden + rejected;

function beside(before: number | undefined): string {
  return before === undefined ? "" : `, in addition to the ${countText(before)} that were accepted before`;
}

function acceptMissing({ listed, missing: { forbidden } }: Of<"MISSING" | "FEW_ROWS">): Advice {
  const refused =
    forbidden === 0
      ? "If they are right to be missing"
      : `${((forbidden / listed) * 100).toFixed(1)} % of the listed events are refused (403). If the account may not see them`;
  return [`${refused}, accept this snapshot: then later ones with the same share are published.`];
}

/** `25.0 % more than`; of nothing there is no percentage. */
function growth(events: number, seen: number): string {
  return seen === 0 ? "more than" : `${((events / seen - 1) * 100).toFixed(1)} % more than`;
}
