// What is said of a list that may be a part only: how many entries came, what could tell, and what a person sets.

import { trialAdvice } from "../job/commands/check-service.ts";
import { type Advice, advise, command, setting } from "../job/errors/advice.ts";
import { countText } from "../job/run/record/texts.ts";
import { isAnswered, type ListDoubt, type ListTrial } from "../job/service/event-service.ts";
import { firstNamed } from "./hold.ts";
import { type Style, say } from "./style.ts";

/** Where the sentence is read. */
interface DoubtReader {
  /** The setting that holds there: a person may have answered. */
  readonly nextPage: string | undefined;
  readonly style: Style;
  /** What was tried; undefined where nothing was. */
  readonly trial?: { readonly found: ListTrial | undefined } | undefined;
}

const COMPARE = "Compare with the service's own pages.";

/** One line. Undefined where there is no doubt, or a person has answered it. */
export function doubtText(
  doubt: ListDoubt | undefined,
  { nextPage, style, trial }: DoubtReader,
): string | undefined {
  return doubt === undefined || isAnswered(doubt, nextPage) ? undefined : say(told(doubt, trial), style);
}

function told({ why, entries, places }: ListDoubt, trial: DoubtReader["trial"]): Advice {
  const came = entriesText(entries);
  const named = firstNamed(places);
  const inBrackets = places.length === 0 ? "" : ` (${named})`;
  if (trial?.found?.fits !== undefined)
    return advise`The list is not whole, though nothing says so: ${came}. ${trialAdvice(trial.found)}`;
  const other = otherwise(trial);
  switch (why) {
    case "unsaid": {
      const could = places.length === 0 ? "" : ` (what could: ${named})`;
      return advise`Nothing says that the list is whole${could}: ${came}. ${COMPARE} If that is all, set ${setting("nextPage", "all")}; else ${other}.`;
    }
    case "limit":
      return advise`The list may be a part only: ${came}, as many as a limit that it states${inBrackets}. ${COMPARE} If that is all, set ${setting("nextPage", "none")}, which ignores every sign of more pages; else ${other}.`;
    case "empty":
      return advise`The list may be a part only: ${came}, and then a page without new entries where others were expected${inBrackets}. ${COMPARE} If that is not all, ${other}.`;
    case "failed":
      return advise`The list may be a part only: ${came}, and beside them the service names something that failed${inBrackets}. If events are missing, ask the service's operator.`;
    case "overlap":
      return advise`The list may be a part only: ${came.replace(/ came$/, "")} came on two of its pages, alike in every reading, so others may be on none. ${COMPARE} If events are missing, ask the service's operator for pages in a fixed order.`;
  }
}

function otherwise(trial: DoubtReader["trial"]): Advice {
  if (trial === undefined) return advise`${command("check")} tries what could fit`;
  const tried = trial.found?.tried ?? [];
  const without = tried.length === 0 ? "" : ` (without other events: ${tried.join(", ")})`;
  return [`ask the service's operator how it is paged${without}`];
}

function entriesText(entries: number): string {
  return entries === 1 ? "1 entry came" : `${countText(entries)} entries came`;
}
