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
  const tryCandidates = async (given: readonly string[] = []): Promise<void> => {
    const trial = await seen.tryEach(given, options, signal);
    if (trial) onTrial(trial);
  };
  try {
    const list = await fetchList(seen, options, signal);
    if (list.incomplete) await tryCandidates(candidatesIn(list.incomplete));
    else if (list.doubt) await tryCandidates(list.candidates);
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
    const candidates = new Set([...given, "page={page}"]);
    const tried: string[] = [];
    let left = MOST_REQUESTS;
    for (const candidate of candidates) {
      const nextPage = parseNextPage(candidate);
      const [numbered] = [...new URLSearchParams(candidate)].find(([, each]) => each === "{page}") ?? [];
      const before = left;
      // Many services count pages from 1, and then their page 1 is there already.
      for (const skipsOne of [true, false]) {
        const page = await this.#try({ ...options, nextPage }, { first, skipsOne, numbered, left }, signal);
        if (!page.isAsked) break;
        left -= 1;
        if (page.brought > 0) return { fits: candidate, brought: page.brought, tried };
        if (!page.isBehindLast) break;
      }
      if (left < before) tried.push(candidate);
    }
    return { brought: 0, tried };
  }

  async #try(
    options: ListOptions,
    { left, ...known }: TrialOptions & { readonly left: number },
    signal: AbortSignal | undefined,
  ): Promise<TrialPage> {
    const trial = new TrialPage(this.#client, this.#uuids, known);
    if (left === 0) return trial;
    await fetchList(trial, options, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      // What a service says to a parameter that it does not know says nothing else.
      if (!(error instanceof SyncError)) throw error;
    });
    return trial;
  }
}

function* uuidsOf(page: FetchedPage | undefined): Generator<string> {
  for (let index = 0; page && index < page.events.length; index += 1) yield page.events.uuidAt(index);
}

interface TrialOptions {
  readonly first: FirstPage;
  /** Takes the first page for page 1. */
  readonly skipsOne: boolean;
  /** The parameter that has the number of the page. */
  readonly numbered: string | undefined;
}

/** Asks for one page, behind which it says that there is none, and has the first one already. */
class TrialPage implements PageClient {
  /** Events that the list did not have. */
  brought = 0;
  isAsked = false;
  #entries = 0;
  readonly #client: PageClient;
  readonly #seen: ReadonlySet<string>;
  readonly #options: TrialOptions;

  constructor(client: PageClient, seen: ReadonlySet<string>, options: TrialOptions) {
    this.#client = client;
    this.#seen = seen;
    this.#options = options;
  }

  /** Where pages count from 0, page 1 may bring what page 2 did not. */
  get isBehindLast(): boolean {
    return this.#options.numbered !== undefined && this.#entries === 0;
  }

  async get(request: PageRequest, signal?: AbortSignal): Promise<FetchedPage | undefined> {
    const { first, skipsOne, numbered = "" } = this.#options;
    const { href, search } = request.url;
    const isOne = new URLSearchParams(search).get(numbered) === "1";
    if (href === first.href || (skipsOne && isOne)) return request.read(...first.came);
    this.isAsked = true;
    const page = await this.#client.get({ ...request, isOnce: true }, signal);
    this.#entries = page?.entries ?? 0;
    for (const uuid of uuidsOf(page)) if (!this.#seen.has(uuid)) this.brought += 1;
    return undefined;
  }
}
