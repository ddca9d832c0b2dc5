// What is said of a list that may be a part only: how many entries came, what could tell, and what a person sets.

import type { ListDoubt, ListTrial } from "../../service/event-service.ts";
import { countText } from "./texts.ts";

/** Where the sentence is read. */
export interface DoubtReader {
  /** The setting that holds there: a person may have answered. */
  readonly nextPage: string | undefined;
  /** How a person sets `nextPage` there: `--next-page all`. */
  readonly set: (nextPage: string) => string;
  /** What tries what could fit: a command; absent where that was done. */
  readonly check?: string | undefined;
  /** What was tried. */
  readonly trial?: ListTrial | undefined;
}

const MOST_PLACES = 3;
const COMPARE = "Compare with the service's own pages.";

/** One line. Undefined where there is no doubt, or a person has answered it. */
export function doubtText(doubt: ListDoubt | undefined, reader: DoubtReader): string | undefined {
  if (doubt === undefined || isAnswered(doubt, reader.nextPage)) return undefined;
  const { why, places } = doubt;
  const { set, trial } = reader;
  const came = entriesText(doubt.entries);
  const some = places.slice(0, MOST_PLACES).join(", ");
  const named = places.length > MOST_PLACES ? `${some} and ${places.length - MOST_PLACES} more` : some;
  if (trial?.fits !== undefined)
    return `The list is not whole, though nothing says so: ${came}. ${trialText(trial, set)}`;
  const other = otherwise(reader);
  switch (why) {
    case "unsaid": {
      const could = places.length === 0 ? "" : ` (what could: ${named})`;
      return `Nothing says that the list is whole${could}: ${came}. ${COMPARE} If that is all, set ${set("all")}; else ${other}.`;
    }
    case "limit": {
      const of = places.length === 0 ? "" : ` (${named})`;
      return `The list may be a part only: ${came}, as many as a limit that it states${of}. ${COMPARE} If that is all, set ${set("none")}, which ignores every sign of more pages; else ${other}.`;
    }
    case "empty":
      return `The list may be a part only: ${came}, and then a page without entries where others were expected${places.length === 0 ? "" : ` (${named})`}. ${COMPARE} If that is not all, ${other}.`;
    case "overlap":
      return `The list may be a part only: ${came.replace(/ came$/, "")} came on two of its pages, alike in every reading, so others may be on none. ${COMPARE} If events are missing, ask the service's operator for pages in a fixed order.`;
  }
}

/** `all` answers what nothing has said; any other doubt has a reason of its own. */
export function isAnswered({ why }: ListDoubt, nextPage: string | undefined): boolean {
  return why === "unsaid" && nextPage === "all";
}

/** What trying has shown. */
export function trialText({ fits, brought, tried }: ListTrial, set: DoubtReader["set"]): string {
  if (fits !== undefined)
    return `Tried: with ${fits} came ${countText(brought)} ${brought === 1 ? "event that was" : "events that were"} not there. Set ${set(fits)}.`;
  return tried.length === 0 ? "" : `Tried, without other events: ${tried.join(", ")}.`;
}

function otherwise({ check, trial }: DoubtReader): string {
  if (check !== undefined) return `${check} tries what could fit`;
  const ask = "ask the service's operator how it is paged";
  return trial === undefined || trial.tried.length === 0
    ? ask
    : `${ask} (without other events: ${trial.tried.join(", ")})`;
}

function entriesText(entries: number): string {
  return entries === 1 ? "1 entry came" : `${countText(entries)} entries came`;
}
