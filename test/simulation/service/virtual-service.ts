// The service of a world: the simulator's without its sockets, with one login for each way in, and a gateway before it.

import type { Limit } from "../../../lambdas/job/settings/values.ts";
import { Grants, type IssuedTokens } from "../../simulator/identity/grants.ts";
import { DEFAULT_IDENTITY, type IdentitySettings } from "../../simulator/identity/identity-settings.ts";
import { tokenEndpoint } from "../../simulator/identity/token-endpoint.ts";
import { Limiter, type Limits } from "../../simulator/limiter.ts";
import { cursorOf, type ListOptions, type SentPage } from "../../simulator/list-endpoint.ts";
import { Service, TO_STRANGER } from "../../simulator/service.ts";
import { readRequest, type ServiceRequest } from "../../simulator/service-request.ts";
import { Sessions } from "../../simulator/sessions.ts";
import { DEFAULT_SETTINGS, type Settings } from "../../simulator/settings.ts";
import { json, type SimulatedResponse } from "../../simulator/simulated-response.ts";
import { hashOf } from "../chance.ts";
import type { Gateway, NEXT_PAGE, Odd, Setting } from "../plan/plan.ts";
import { Content } from "./content.ts";

export interface ServiceCall {
  readonly by: string;
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A call and its answer, for the model. */
export interface ServedCall {
  readonly by: string;
  readonly request: ServiceRequest;
  readonly atMs: number;
  readonly status: number;
  readonly text: string;
  /** Refused because there were too many requests in the window. */
  readonly isOverRequests: boolean;
  /** Not the service's own answer. */
  readonly isOdd: boolean;
  /** The details of no event are given at this time. */
  readonly isWall: boolean;
}

const HOUR_MS = 60 * 60_000;

export const EMAIL = "someone@example.test";
export const CLIENT = { id: "client", secret: "secret" };

export class VirtualService {
  readonly content = new Content();
  readonly #setting: Setting;
  readonly #identity: IdentitySettings;
  readonly #now: () => number;
  readonly #observe: (call: ServedCall) => void;
  readonly #sessions = new Sessions(counted());
  readonly #grants = new Grants(counted());
  readonly #service = new Service(this.content.events, this.#sessions);
  readonly #loginsAtMs: number[] = [];
  #limiter = new Limiter();
  #limits: Limits;
  /** The number of the list that is sent next: each has an order of its own where they are shuffled. */
  #lists = 1;
  password = "first";
  isDisabled = false;
  /** What refuses details before the service sees the request. */
  gateway: Gateway | undefined;
  /** Events that cannot be read. */
  readonly odd = new Map<string, Odd>();

  constructor(setting: Setting, now: () => number, observe: (call: ServedCall) => void) {
    this.#setting = setting;
    this.#identity = identityOf(setting);
    this.#now = now;
    this.#observe = observe;
    this.#limits = limitsOf(setting, setting.stricterRequestsPerMinute ?? setting.requestsPerMinute);
  }

  /** From now on it allows what the settings say. */
  keepPromisedLimits(): void {
    this.#limiter = new Limiter();
    this.#limits = limitsOf(this.#setting, this.#setting.requestsPerMinute);
  }

  endSessions(): void {
    this.#sessions.endAll();
  }

  endAccessTokens(): void {
    this.#grants.endAccessTokens();
  }

  /** One of the listed events, if another one is left. */
  makeOdd(answer: Odd): void {
    const [first, second] = this.content.listed().toSorted((a, b) => hashOf(a) - hashOf(b));
    if (first !== undefined && second !== undefined && this.odd.size === 0) this.odd.set(first, answer);
  }

  /** A person authorizes. */
  authorize(): IssuedTokens {
    return this.#grants.authorize(this.#now(), this.#identity);
  }

  isSpent(refreshToken: string): boolean {
    return this.#grants.isSpent(refreshToken);
  }

  serve({ by, method, url, headers, body }: ServiceCall): SimulatedResponse {
    const atMs = this.#now();
    if (url.pathname === "/oauth/token")
      return tokenEndpoint(new URLSearchParams(body), this.#grants, this.#identity, atMs);
    const request = readRequest({ method, url: `${url.pathname}${url.search}`, headers });
    const isOverRequests = this.#limiter.isOverRequests(atMs, this.#limits);
    const refused = this.#limiter.refuse(atMs, this.#limits);
    const blocked = refused ?? this.#refusedByGateway(request);
    const own = blocked ?? this.#service.respond(request, body, this.#settings, atMs);
    const odd = own.status === 200 ? this.#oddAnswer(request) : undefined;
    const answer = odd ?? own;
    const text = String(answer.body);
    if (request.endpoint === "login" && answer.status === 200) this.#loginsAtMs.push(atMs);
    // What strangers are told is not the service's word.
    const status = answer.headers[TO_STRANGER] === undefined ? answer.status : 0;
    const isWall = this.gateway?.share === 1;
    const isOdd = odd !== undefined || (refused === undefined && blocked !== undefined);
    this.#observe({ by, request, atMs, status, text, isOverRequests, isOdd, isWall });
    if (request.endpoint === "list" && status === 200) this.#lists += 1;
    if (refused === undefined) this.#limiter.charge(atMs, Buffer.byteLength(text));
    return answer;
  }

  #refusedByGateway({ endpoint, uuid }: ServiceRequest): SimulatedResponse | undefined {
    if (this.gateway === undefined || endpoint !== "detail") return undefined;
    const { share, status, retryAfterSeconds, saysLimit } = this.gateway;
    if (hashOf(uuid ?? "") >= share * 2 ** 32) return undefined;
    const seconds = String(retryAfterSeconds);
    const wait = saysLimit
      ? { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds }
      : { "retry-after": seconds };
    return json(status, "", {
      ...(status === 302 ? AWAY : {}),
      ...(retryAfterSeconds === undefined ? {} : wait),
    });
  }

  #oddAnswer({ endpoint, uuid = "" }: ServiceRequest): SimulatedResponse | undefined {
    const answer = endpoint === "detail" ? this.odd.get(uuid) : undefined;
    if (answer === undefined) return undefined;
    if (answer === "nan") return json(200, `{"uuid":"${uuid}","spend":NaN}`);
    return json(answer, "", answer === 302 ? AWAY : {});
  }

  /** A cookie that ends a fourth time in an hour is no session's: where others ended so often, the next lives long. */
  get #maxAgeMs(): number {
    const { maxAgeMs = Infinity, isOpen } = this.#setting.session;
    const recent = this.#loginsAtMs.filter((atMs) => atMs > this.#now() - HOUR_MS);
    return isOpen && recent.length >= 3 ? Math.max(maxAgeMs, 2 * HOUR_MS) : maxAgeMs;
  }

  get #settings(): Settings {
    const { method, session, knownAfterMs, isShuffled, pageSize } = this.#setting;
    const { maxRequests = Infinity, exclusive, ends, isOpen } = session;
    const maxAgeMs = this.#maxAgeMs;
    const { accessToken } = this.#identity;
    return {
      ...DEFAULT_SETTINGS,
      account: { email: EMAIL, password: this.password, disabled: this.isDisabled, methods: [method] },
      session: { maxAgeMs, maxRequests, exclusive, ends, isOpen, knownAfterMs },
      bearer: {
        admits: (token) => this.#grants.admits(token, this.#now(), accessToken),
        endAccessTokens: () => this.#grants.endAccessTokens(),
      },
      list: {
        ...pagingOf(this.#setting),
        ...(pageSize === undefined ? {} : { pageSize }),
        ...(isShuffled ? { shuffle: (uuid: string) => hashOf(`${uuid} ${this.#lists}`) } : {}),
      },
    };
  }
}

/** To another origin, so that no session ends with it. */
const AWAY = { location: "https://elsewhere.example/" };

function identityOf({ tokens: { lifeMs, rotates, graceMs }, knownAfterMs }: Setting): IdentitySettings {
  return {
    ...DEFAULT_IDENTITY,
    client: { ...CLIENT, redirectUris: [] },
    accessToken: { lifetimeMs: lifeMs, knownAfterMs },
    refreshToken: { rotation: rotates ? "single-use" : "same", graceMs, revokesFamily: false },
  };
}

function limitsOf({ bytesPerMinute }: Setting, requestsPerMinute: Limit): Limits {
  const limit = (perMinute: Limit): number => (perMinute === "unlimited" ? Infinity : perMinute);
  return { requestsPerWindow: limit(requestsPerMinute), bytesPerWindow: limit(bytesPerMinute) };
}

/** How a page says that another one follows, or how many there are, and how that is asked for. */
function pagingOf({ paging, wording, behindLast, isPagingKnown, isShuffled }: Setting): ListOptions {
  const { words, ...options } = PAGING[paging];
  // Words that are in no table do not stop a run that does not know how pages are asked for.
  const isFree = isPagingKnown && paging !== "cursor" && paging !== "body-link";
  const all = isFree ? [...words, ...UNKNOWN_WORDS] : words;
  const top = all[wording % all.length];
  const isCounted = top !== undefined && (COUNTS.includes(top) || PAGE_COUNTS.includes(top));
  // Only a number tells that these are behind the last page. In another order the last page is another one, and the first one
  // is not known again where it is asked for as page 1, so that more pages come than are stated.
  const isTold = behindLast === 204 || behindLast === "null" || (isCounted && !isShuffled);
  return {
    ...options,
    ...(top === undefined ? {} : { members: { top } }),
    ...(isTold && behindLast !== undefined ? { behindLast } : {}),
  };
}

type Words = (page: SentPage) => string;

const cursorText = (page: SentPage): string => JSON.stringify(cursorOf(page) ?? null);
const pageCount = ({ all, end, start, number }: SentPage): number =>
  Math.max(
    1,
    end >= all
      ? end === start && number > 1
        ? number - 1
        : number
      : number + Math.ceil((all - end) / (end - start)),
  );

const PAGE_COUNTS: readonly Words[] = [
  (page) => `"pages":${pageCount(page)}`,
  (page) => `"meta":{"page_count":${pageCount(page)}}`,
];
const COUNTS: readonly Words[] = [
  ({ all }) => `"total":${all}`,
  ({ all }) => `"totalCount":${all}`,
  ({ all }) => `"meta":{"page":{"total_items":${all}}}`,
  ({ all }) => `"page":{"totalElements":${all},"size":5}`,
];
const UNKNOWN_WORDS: readonly Words[] = [
  (page) => `"weitere":${hasMore(page)}`,
  () => '"next_update":"soon","quota":{"total":99}',
];

const PAGING: Readonly<Record<keyof typeof NEXT_PAGE, ListOptions & { readonly words: readonly Words[] }>> = {
  link: { words: [] },
  "body-link": {
    next: "none",
    words: ["next", "next_page_url", "@odata.nextLink", "hydra:next"].map(
      (name): Words =>
        (page) =>
          `${JSON.stringify(name)}:${hasMore(page) ? `"/v1/events?is_listed=true&page=${page.number + 1}"` : null}`,
    ),
  },
  cursor: {
    ...{ next: "none", asked: "cursor" },
    words: [
      (page) => `"meta":{"next_cursor":${cursorText(page)}}`,
      (page) => `"meta":{"next_cursor":${cursorText(page)},"cursor":"c"},"hasMore":${hasMore(page)}`,
    ],
  },
  page: {
    next: "none",
    words: [
      (page) => `"has_more":${hasMore(page)}`,
      (page) => `"pageInfo":{"hasNextPage":${hasMore(page)}}`,
      (page) => `"isLast":${!hasMore(page)}`,
      ...PAGE_COUNTS,
    ],
  },
  offset: {
    ...{ next: "none", asked: "offset" },
    words: COUNTS,
  },
};

const hasMore = ({ end, all }: SentPage): boolean => end < all;

/** No name is the beginning of another one. */
function counted(): () => string {
  let made = 0;
  return () => {
    made += 1;
    return String(made).padStart(9, "0");
  };
}
