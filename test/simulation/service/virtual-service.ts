// The service of a world: authentication, limits as it counts them, list and details. Without a network.

import { hashOf } from "../chance.ts";
import { IdentityProvider } from "../oauth/identity-provider.ts";
import type { Gateway, Setting } from "../plan/plan.ts";
import { Content } from "./content.ts";
import { ServiceLimits } from "./service-limits.ts";
import { VirtualSessions } from "./virtual-sessions.ts";

export interface ServiceCall {
  readonly by: string;
  readonly method: "GET" | "POST";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly text: string;
}

/** A call and its answer, for the model. */
export interface ServedCall extends ServiceCall {
  readonly atMs: number;
  readonly kind: "login" | "list" | "detail" | "token";
  readonly status: number;
  readonly text: string;
  /** Refused because there were too many requests in the window. */
  readonly isOverRequests: boolean;
}

export class VirtualService {
  readonly content = new Content();
  readonly sessions: VirtualSessions;
  readonly provider: IdentityProvider;
  #limits: ServiceLimits;
  #lists = 0;
  readonly #setting: Setting;
  readonly #now: () => number;
  readonly #observe: (call: ServedCall) => void;
  password = "first";
  isDisabled = false;
  /** What refuses details before the service sees the request. */
  gateway: Gateway | undefined;

  constructor(setting: Setting, now: () => number, observe: (call: ServedCall) => void) {
    this.#setting = setting;
    this.#now = now;
    this.#observe = observe;
    this.sessions = new VirtualSessions(setting);
    this.provider = new IdentityProvider(setting, now);
    const requests = setting.stricterRequestsPerMinute ?? setting.requestsPerMinute;
    this.#limits = new ServiceLimits(requests, setting.bytesPerMinute);
  }

  /** From now on it allows what the settings say. */
  keepPromisedLimits(): void {
    const { requestsPerMinute, bytesPerMinute } = this.#setting;
    this.#limits = new ServiceLimits(requestsPerMinute, bytesPerMinute);
  }

  serve(call: ServiceCall): ServiceAnswer {
    const atMs = this.#now();
    const kind = kindOf(call.url);
    if (kind === "token") return this.provider.refresh(call.body ?? "");
    const refusal = this.#limits.refusal(atMs);
    if (refusal === undefined) this.#limits.count(atMs, 1, 0);
    const answer = refusal
      ? answerOf(429, "", [["retry-after", [String(refusal.retryAfterSeconds)]]])
      : this.#respond(call, kind, atMs);
    const isOverRequests = refusal?.isOverRequests ?? false;
    this.#observe({ ...call, atMs, kind, status: answer.status, text: answer.text, isOverRequests });
    this.#limits.count(atMs, 0, Buffer.byteLength(answer.text));
    return answer;
  }

  #respond(call: ServiceCall, kind: ServedCall["kind"], atMs: number): ServiceAnswer {
    if (kind === "login") return this.#logIn(call.body);
    const byGateway = kind === "detail" ? this.#refusedByGateway(uuidIn(call.url)) : undefined;
    if (byGateway) return byGateway;
    const refused = this.#unauthenticated(call, atMs);
    if (refused !== undefined) return refused;
    if (kind === "list") return this.#list(call.url);
    const { refusal, text } = this.content.state(uuidIn(call.url));
    return refusal === undefined
      ? answerOf(200, `{"data":${text}}`)
      : answerOf(refusal, '{"message":"Not found."}');
  }

  #refusedByGateway(uuid: string): ServiceAnswer | undefined {
    if (this.gateway === undefined) return undefined;
    const { share, status, retryAfterSeconds } = this.gateway;
    if (hashOf(uuid) >= share * 2 ** 32) return undefined;
    const retryAfter: [string, string[]][] =
      retryAfterSeconds === undefined ? [] : [["retry-after", [String(retryAfterSeconds)]]];
    return answerOf(status, "", retryAfter);
  }

  #logIn(body: string | undefined): ServiceAnswer {
    if (passwordIn(body) !== this.password) return answerOf(404, '{"message":"User not found"}');
    if (this.isDisabled) return answerOf(401, '{"message":"disabled"}');
    const cookie = this.sessions.open(this.#now());
    return answerOf(200, "{}", [["set-cookie", [`session=${cookie}; Path=/; HttpOnly`]]]);
  }

  #unauthenticated({ headers }: ServiceCall, atMs: number): ServiceAnswer | undefined {
    const refused = answerOf(401, '{"message":"Not authenticated."}');
    if (this.isDisabled) return refused;
    const { authorization = "" } = headers;
    switch (this.#setting.method) {
      case "oauth":
        return this.provider.isValid(authorization.replace(/^Bearer /, "")) ? undefined : refused;
      case "basic": {
        const expected = Buffer.from(`${EMAIL}:${this.password}`).toString("base64");
        return authorization === `Basic ${expected}` ? undefined : refused;
      }
      case "session": {
        const session = this.sessions.look(headers["cookie"], atMs);
        if (session === "admitted") return undefined;
        return session === "ended" ? endedSession(this.#setting.session) : refused;
      }
    }
  }

  #list(url: URL): ServiceAnswer {
    const all = this.#setting.isShuffled ? this.#shuffled() : this.content.listed();
    const { pageSize = all.length, paging } = this.#setting;
    const { searchParams: query } = url;
    const page = query.get("page");
    const start =
      page === null ? Number(query.get("offset") ?? query.get("cursor") ?? 0) : (Number(page) - 1) * pageSize;
    const end = start + pageSize;
    const isMore = end < all.length;
    const next = `/v1/events?is_listed=true&page=${end / pageSize + 1}`;
    const beside = {
      link: "",
      "body-link": isMore ? `,"next":"${next}"` : ',"next":null',
      cursor: `,"meta":{"next_cursor":${isMore ? end : null}}`,
      page: `,"has_more":${isMore}`,
      offset: `,"total":${all.length}`,
    }[paging];
    const entries = all.slice(start, end).map((uuid) => this.content.state(uuid).listing);
    return answerOf(
      200,
      `{"data":[${entries.join(",")}]${beside}}`,
      isMore && paging === "link" ? [["link", [`<${next}>; rel="next"`]]] : [],
    );
  }

  #shuffled(): readonly string[] {
    this.#lists += 1;
    const order = (uuid: string): number => hashOf(`${uuid} ${this.#lists}`);
    return this.content.listed().toSorted((a, b) => order(a) - order(b));
  }
}

function endedSession({ ends }: Setting["session"]): ServiceAnswer {
  return ends === "redirect" ? answerOf(302, "", [["location", ["/login"]]]) : answerOf(ends, "");
}

export const EMAIL = "someone@example.test";

export function answerOf(
  status: number,
  text: string,
  headers: readonly (readonly [string, readonly string[]])[] = [],
): ServiceAnswer {
  return { status, text, headers: new Map(headers) };
}

function kindOf({ pathname }: URL): ServedCall["kind"] {
  if (pathname === "/v1/auth/login") return "login";
  if (pathname === "/oauth/token") return "token";
  return pathname === "/v1/events" ? "list" : "detail";
}

/** Of a request for a detail. */
export function uuidIn({ pathname }: URL): string {
  return pathname.slice(pathname.lastIndexOf("/") + 1);
}

function passwordIn(body: string | undefined): string {
  return /"password":"(\w+)"/.exec(body ?? "")?.[1] ?? "";
}
