// The errors of a list that cannot be read to its end.

import { type Advice, advise, command, inOrder, setting } from "../../../errors/advice.ts";
import { SyncError } from "../../../errors/sync-error.ts";
import { AddressDoubt } from "../../requests/address-doubt.ts";
import { unexpectedStatus } from "../../requests/failure.ts";

/** What each of them has in its fields: the request for the list, and how many entries came. */
export interface ListFacts {
  readonly request: string;
  readonly received: number;
}

const LICENSE = "Ask the service's operator to license events for it.";

/** @param pages how many came before */
export function refused(request: string, status: number, pages: number, facts: ListFacts): SyncError {
  if (status === 403)
    return new AddressDoubt(
      "NOT_ENTITLED",
      `The account may not list events (${request} was answered with status 403).`,
      {
        ifNew: advise`${LICENSE} If this address has never worked, check ${setting("baseUrl")}.`,
        ifKnown: LICENSE,
        fields: { request, status },
      },
    );
  if (pages === 0) return unexpectedStatus(request, status);
  return unexpected(
    `${request} was answered with status ${status}, and no page says that the entries before it are all: ${facts.received}`,
    facts,
  );
}

export function unexpected(problem: string, facts: ListFacts): SyncError {
  return new SyncError("UNEXPECTED_RESPONSE", `${problem}. Nothing was published.`, {
    fields: { ...facts },
    next: advise`Check ${setting("nextPage")}, and ask the service's operator how the list is paged.`,
  });
}

export function tooLarge(problem: string, facts: ListFacts): SyncError {
  return new AddressDoubt(
    "UNEXPECTED_RESPONSE",
    `The list of events ${problem}, and is not read further. Nothing was published.`,
    {
      ifNew: advise`Check that ${setting("baseUrl")} is the service itself and ${setting("listPointer")} leads to the events; if so, ask the service's operator.`,
      ifKnown: advise`Check that ${setting("listPointer")} leads to the events.`,
      fields: { ...facts },
    },
  );
}

/** `check` itself does not say it. */
export const RUN_CHECK: Advice = advise`Check: ${command("check")} tries what asks for the next page, and names what worked.`;

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
    `The list of events ${what}, and ${entries} entries were received. A partial snapshot is never published.`,
    {
      fields: { ...facts, candidates },
      next: inOrder(
        RUN_CHECK,
        advise`If no page is missing, set ${setting("nextPage", "links")}, which ignores such signs; else ask the service's operator how the list is paged.`,
      ),
    },
  );
}
