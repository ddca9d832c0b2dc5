// The errors of a list that cannot be read to its end.

import { SyncError } from "../../../errors/sync-error.ts";
import { AddressDoubt } from "../../requests/address-doubt.ts";
import { unexpectedStatus } from "../../requests/failure.ts";

/** What each of them has in its fields: the request for the list, and how many entries came. */
export interface ListFacts {
  readonly request: string;
  readonly received: number;
}

/** @param pages how many came before */
export function refused(request: string, status: number, pages: number, facts: ListFacts): SyncError {
  if (status === 403)
    return new AddressDoubt(
      "NOT_ENTITLED",
      `The account may not list events (${request} was answered with status 403). Ask the service's operator to license events for it.`,
      { ifNew: "If this address has never worked, check --base-url.", fields: { request, status } },
    );
  if (pages === 0) return unexpectedStatus(request, status);
  return unexpected(
    `${request} was answered with status ${status}, and no page says that the entries before it are all: ${facts.received}`,
    facts,
  );
}

export function unexpected(problem: string, facts: ListFacts): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    `${problem}. Nothing was published. Check --next-page (nextPage), and ask the service's operator how the list is paged.`,
    { fields: { ...facts } },
  );
}

export function tooLarge(problem: string, facts: ListFacts): SyncError {
  return new AddressDoubt(
    "UNEXPECTED_RESPONSE",
    `The list of events ${problem}, and is not read further. Nothing was published.`,
    {
      ifNew:
        "Check that --base-url is the service itself and --list-pointer leads to the events; if so, ask the service's operator.",
      ifKnown: "Check that --list-pointer leads to the events.",
      fields: { ...facts },
    },
  );
}

/** `check` itself does not say it. */
export const RUN_CHECK = "Run `check`: it tries what asks for the next page, and names what worked.";

/**
 * @param entries what came
 * @param candidates values of `nextPage` that probably fit; the message names none, because none was tried
 */
export function incomplete(
  what: string,
  entries: number,
  candidates: readonly string[],
  facts: ListFacts,
): SyncError {
  return new SyncError(
    "LIST_INCOMPLETE",
    `The list of events ${what}, and ${entries} entries were received. A partial snapshot is never published. ${RUN_CHECK} ` +
      "If no page is missing, set --next-page (nextPage) to links, which ignores such signs; else ask the service's operator " +
      "how the list is paged.",
    { fields: { ...facts, candidates } },
  );
}
