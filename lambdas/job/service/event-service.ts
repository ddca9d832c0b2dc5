// The port of the service: what a run needs of it, the list of events and the details of one.

import type { SyncError } from "../errors/sync-error.ts";
import type { ServiceCounts } from "./requests/sender.ts";

export interface ListedEvent {
  /** The uuid in lower case, by which events are compared. */
  readonly uuid: string;
  /** The uuid as the service listed it, with which the detail is requested. */
  readonly requestAs: string;
  /** The entry's source text without the white space between its tokens. */
  readonly listing: string;
}

/** A list may have a million events, so each is made when it is read. Read it by index or from the beginning, often. */
export interface ListedEvents extends Iterable<ListedEvent> {
  readonly length: number;
  at(index: number): ListedEvent | undefined;
}

export interface EventList {
  /** Distinct, sorted by uuid (code units). */
  readonly events: ListedEvents;
  /** Entries without a valid uuid. */
  readonly rejected: number;
  /** Names and types of the first of them, for a person. */
  readonly rejectedShape?: string | undefined;
  /** Entries whose uuid had been listed already; the smallest text was kept. */
  readonly repeated: number;
  /** Of them, those that came on another page: the pages overlap, or have shifted while they were read. */
  readonly overlapping: number;
  /** `LIST_INCOMPLETE` where a page states more than came, if what came on two pages counts once. */
  readonly incomplete?: SyncError | undefined;
  /** What a person should know of how the list is paged and filtered. */
  readonly warnings?: readonly string[];
  /** Absent where something says that the list is whole. */
  readonly doubt?: ListDoubt | undefined;
  /** Values of `nextPage` that probably fit, best first, at most three; absent where no other page is missed. */
  readonly candidates?: readonly string[] | undefined;
  /** As many distinct entries came as a page states in all. */
  readonly isTotalReached?: boolean;
}

/** Why a list may be a part only, though nothing says that there is more. */
export interface ListDoubt {
  /**
   * `unsaid`: nothing says that it is all. `limit`: as many entries came as a limit that a page states. `empty`: the end was a
   * page without new entries where others were expected. `failed`: a page names something that failed. `overlap`: its pages
   * overlap alike in every reading.
   */
  readonly why: "unsaid" | "limit" | "empty" | "failed" | "overlap";
  /** How many entries came; for `overlap`, how many came on a page before. */
  readonly entries: number;
  /** JSON Pointers to members, and names of headers, that could tell. Names that may be data are not shown. */
  readonly places: readonly string[];
}

/** `all` answers what nothing has said; any other doubt has a reason of its own. */
export function isAnswered({ why }: ListDoubt, nextPage: string | undefined): boolean {
  return why === "unsaid" && nextPage === "all";
}

/** What other values of `nextPage` brought where a list is not whole, or may not be. */
export interface ListTrial {
  /** The first that brought events which the list did not have. */
  readonly fits?: string | undefined;
  /** How many came on one page. */
  readonly brought: number;
  /** The ways that brought none. */
  readonly tried: readonly string[];
}

export type Detail =
  | {
      readonly kind: "event";
      /** The event's source text without the white space between its tokens. */
      readonly event: string;
      /** The event as `JSON.parse` gives it, which rounds numbers: it shows fields and their types. */
      readonly value: unknown;
      readonly eventDate: string | null;
      readonly scope: string | null;
    }
  | {
      readonly kind: "left-out";
      readonly reason: "gone" | "forbidden" | "oversize" | "too_deep";
      /** How long the service asks to wait before the event is requested again. */
      readonly retryAfterMs?: number | undefined;
      /** How long a cache had kept the answer; absent where it says nothing of a cache. */
      readonly ageMs?: number | undefined;
    };

/** `again`: the event was asked for before, so no cache may answer. `control`: the same, with a single attempt. */
export type Question = "first" | "again" | "control";

/**
 * Each call includes login, rate limit and retries, and resolves with a complete result or throws a
 * `SyncError` that ends the run, or the signal's reason. A failed detail is never an empty detail.
 */
export interface EventService {
  /** What it has sent so far. */
  readonly counts: Readonly<ServiceCounts>;
  /** Of the credentials that are in use now, and of the tokens; undefined where they have no versions. */
  readonly credentialsVersion?: string | undefined;
  /** What is wrong with a clock, where the service's differs from this computer's. */
  readonly clockWarning?: string | undefined;
  /** Logs in now, where the method knows a login, instead of with the first request. */
  logIn(signal?: AbortSignal): Promise<void>;
  /**
   * Reads the list once.
   * @param onTrial called where the list is not whole, or may not be, with what at most three requests more have shown of how
   * it is paged; without it nothing is tried
   */
  list(signal?: AbortSignal, onTrial?: (trial: ListTrial) => void): Promise<EventList>;
  /** Throws as well where this event alone cannot be read: whether others can is for the caller to find out. */
  detail(requestAs: string, signal?: AbortSignal, question?: Question): Promise<Detail>;
  close(): Promise<void>;
}
