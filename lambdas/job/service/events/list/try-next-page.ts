// Tries a value of `nextPage` before it is advised: a list is read again with it, from the first page as it came, until a
// page brings events that the list did not have. So a trial is what a run would do, and costs a request or two.

import { SyncError } from "../../../errors/sync-error.ts";
import { parseNextPage } from "../../../settings/values.ts";
import type { EventList, ListTrial } from "../../event-service.ts";
import type { ApiRequest } from "../../requests/api-client.ts";
import { fetchList, type ListOptions } from "./fetch-list.ts";
import type { FetchedPage, PageClient } from "./read-page.ts";

/** In all trials of a list. */
const MOST_REQUESTS = 3;
/** Of a longer list nothing is tried: the uuids take memory. */
const MOST_SEEN = 100_000;

/** `fetchList`; where its list is not whole, or may not be, `onTrial` is told what other values of `nextPage` bring. */
export async function fetchListAndTry(
  client: PageClient,
  options: ListOptions,
  onTrial: (trial: ListTrial) => void,
  signal?: AbortSignal,
): Promise<EventList> {
  const seen = new SeenPages(client);
  const tryCandidates = async (given: readonly string[]): Promise<void> => {
    const trial = await seen.tryEach(given, options, signal);
    if (trial) onTrial(trial);
  };
  try {
    const list = await fetchList(seen, options, signal);
    if (list.incomplete) await tryCandidates(candidatesIn(list.incomplete));
    else if (list.candidates) await tryCandidates(list.candidates);
    return list;
  } catch (error) {
    if (isAboutPages(error)) await tryCandidates(candidatesIn(error));
    throw error;
  }
}

function isAboutPages(error: unknown): error is SyncError {
  return (
    error instanceof SyncError && (error.code === "LIST_INCOMPLETE" || error.code === "UNEXPECTED_RESPONSE")
  );
}

function candidatesIn({ fields }: SyncError): readonly string[] {
  const given: unknown = fields["candidates"];
  return [given].flat().filter((each) => typeof each === "string");
}

type PageRequest = ApiRequest<FetchedPage | undefined>;
type Read = Parameters<PageRequest["read"]>;

/** The first page of a list as it came. */
interface FirstPage {
  readonly href: string;
  readonly came: Read;
}

/** Asks for the pages of a list, and keeps the first one and the uuids of all. */
class SeenPages implements PageClient {
  readonly #client: PageClient;
  readonly #uuids = new Set<string>();
  #first: FirstPage | undefined;

  constructor(client: PageClient) {
    this.#client = client;
  }

  async get(request: PageRequest, signal?: AbortSignal): Promise<FetchedPage | undefined> {
    let came: Read | undefined;
    const read = (...response: Read): FetchedPage | undefined => {
      came = response;
      return request.read(...response);
    };
    const page = await this.#client.get({ ...request, read }, signal);
    if (came) this.#first ??= { href: request.url.href, came };
    for (const uuid of uuidsOf(page)) if (this.#uuids.size <= MOST_SEEN) this.#uuids.add(uuid);
    return page;
  }

  /** Undefined where no page with events came, or the list is too long. */
  async tryEach(
    given: readonly string[],
    options: ListOptions,
    signal: AbortSignal | undefined,
  ): Promise<ListTrial | undefined> {
    const first = this.#first;
    if (first === undefined || this.#uuids.size === 0 || this.#uuids.size > MOST_SEEN) return undefined;
    const tried: string[] = [];
    let left = MOST_REQUESTS;
    for (const candidate of new Set([...given, "page={page}"])) {
      const trial = new TrialPage(this.#client, first, { seen: this.#uuids, candidate, left });
      await orNothing(fetchList(trial, { ...options, nextPage: parseNextPage(candidate) }, signal), signal);
      if (trial.brought > 0) return { fits: candidate, brought: trial.brought, tried };
      if (trial.left < left) tried.push(candidate);
      left = trial.left;
    }
    return { brought: 0, tried };
  }
}

/** What a service says to a parameter that it does not know says nothing else. */
async function orNothing<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SyncError) return undefined;
    throw error;
  }
}

function* uuidsOf(page: FetchedPage | undefined): Generator<string> {
  for (let index = 0; page && index < page.events.length; index += 1) yield page.events.uuidAt(index);
}

interface TrialOptions {
  /** Events that the list has. */
  readonly seen: ReadonlySet<string>;
  readonly candidate: string;
  /** How many requests may be sent. */
  readonly left: number;
}

/**
 * Asks for one page, behind which it says that there is none, and has the first one already. Many services count pages from
 * 1, so that is taken for page 1, which is asked for only where page 2 brings nothing: the service may count from 0.
 */
class TrialPage implements PageClient {
  /** Events that the list did not have. */
  brought = 0;
  left: number;
  readonly #client: PageClient;
  readonly #first: FirstPage;
  readonly #seen: ReadonlySet<string>;
  /** The parameter that has the number of the page. */
  readonly #numbered: string;
  /** The request for page 1, which was not sent. */
  #one: PageRequest | undefined;

  constructor(client: PageClient, first: FirstPage, { seen, candidate, left }: TrialOptions) {
    this.#client = client;
    this.#first = first;
    this.#seen = seen;
    this.#numbered = [...new URLSearchParams(candidate)].find(([, value]) => value === "{page}")?.[0] ?? "";
    this.left = left;
  }

  async get(request: PageRequest, signal?: AbortSignal): Promise<FetchedPage | undefined> {
    const { href, search } = request.url;
    const isOne = new URLSearchParams(search).get(this.#numbered) === "1";
    if (isOne) this.#one = request;
    if (isOne || href === this.#first.href) return request.read(...this.#first.came);
    for (const each of [request, this.#one]) {
      if (each === undefined || this.left === 0) break;
      this.left -= 1;
      const page = await orNothing(this.#client.get({ ...each, isOnce: true }, signal), signal);
      for (const uuid of uuidsOf(page)) if (!this.#seen.has(uuid)) this.brought += 1;
      if (page !== undefined && page.entries > 0) break;
    }
    return undefined;
  }
}
