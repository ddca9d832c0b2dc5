// The response of the simulated service to a request within its limits.

import type { Account } from "./account.ts";
import { oneEvent } from "./detail-endpoint.ts";
import type { WrongResponse } from "./faults.ts";
import { listEvents } from "./list-endpoint.ts";
import type { ServiceRequest } from "./service-request.ts";
import { clearedCookies, type SessionOptions, type Sessions } from "./sessions.ts";
import type { BearerTokens, Settings } from "./settings.ts";
import { givenStatus, json, refusal, type SimulatedResponse, WAITING_PAGE } from "./simulated-response.ts";
import { World } from "./world.ts";

/** The name of a header that tells a test of it. */
export const TO_STRANGER = "x-to-stranger";

export class Service {
  readonly #world: World;
  readonly #sessions: Sessions;

  constructor(world: World, sessions: Sessions) {
    this.#world = world;
    this.#sessions = sessions;
  }

  respond(request: ServiceRequest, body: string, settings: Settings, nowMs: number): SimulatedResponse {
    const context: LoginContext = { ...settings, sessions: this.#sessions, nowMs };
    if (request.endpoint === "login") return login(request.method, body, context);
    const asked = authentication(request, context);
    if (asked === "stranger") return this.#respondToStranger(request, settings);
    if (asked !== "admitted") return asked;
    return this.#respondFrom(this.#world, request, settings);
  }

  /** What anybody may see: half of the events in the list, and less of each. */
  #respondToStranger(request: ServiceRequest, settings: Settings): SimulatedResponse {
    const isOpen = ({ uuid }: { readonly uuid: string }): boolean =>
      request.endpoint !== "list" || Number.parseInt(uuid.slice(-1), 16) % 2 === 0;
    const events = this.#world.shown().filter(isOpen);
    const open = new World(events.map((event) => ({ ...event, source: `{"uuid":"${event.uuid}"}` })));
    const { headers, ...response } = this.#respondFrom(open, request, settings);
    return { ...response, headers: { ...headers, [TO_STRANGER]: "yes" } };
  }

  #respondFrom(world: World, request: ServiceRequest, settings: Settings): SimulatedResponse {
    if (request.method !== "GET") return refusal(405, "Use GET.", { allow: "GET" });
    if (request.endpoint === "list") return listEvents(request.query, world, settings.list);
    if (request.uuid !== undefined) return oneEvent(request.uuid, world, settings.detail);
    return refusal(404, "No such resource.");
  }

  wrongResponse(
    fault: WrongResponse,
    request: ServiceRequest,
    body: string,
    settings: Settings,
    nowMs: number,
  ): SimulatedResponse {
    switch (fault.kind) {
      case "status":
        return givenStatus(fault);
      case "html":
        return WAITING_PAGE;
      case "body":
        return json(200, fault.text);
      case "redirect":
        return refusal(fault.status ?? 302, "Moved.", { location: fault.location });
      case "wrong-uuid":
        return this.respond(
          { ...request, uuid: this.#world.otherThan(request.uuid ?? "").uuid },
          body,
          settings,
          nowMs,
        );
    }
  }
}

/** What makes a later request authenticated (docs/service-interface.md §3.1 and §4). */
interface LoginContext {
  readonly account: Account;
  readonly sessions: Sessions;
  readonly session: SessionOptions;
  readonly bearer: BearerTokens | undefined;
  readonly nowMs: number;
}

const DISABLED = "This account has been disabled because of abuse.";

const login = (method: string, body: string, context: LoginContext): SimulatedResponse => {
  if (method !== "POST") return refusal(405, "Use POST.", { allow: "POST" });
  const given = readEnvelope(body);
  if (given === undefined)
    return refusal(400, 'Expected {"meta":{"version":"v1"},"data":{"email","password"}}.');
  if (!matches(given, context.account) || !context.account.methods.includes("session")) {
    return refusal(404, `User "${given.email}" not found`);
  }
  if (context.account.disabled === true) return refusal(401, DISABLED);
  const cookies = context.sessions.open(context.nowMs, context.session);
  return json(200, '{"meta":{"version":"v1"},"data":{}}', { "set-cookie": cookies });
};

/** The refusal of a request that is not authenticated, or as whose it is answered. */
const authentication = (
  request: ServiceRequest,
  context: LoginContext,
): SimulatedResponse | "admitted" | "stranger" => {
  const { account, bearer, sessions } = context;
  if (account.disabled === true) return refusal(401, DISABLED, challenge(context));
  const basic = readBasic(request.authorization ?? "");
  if (basic !== undefined && account.methods.includes("basic") && matches(basic, account)) return "admitted";
  const token = /^bearer +(\S+)$/i.exec(request.authorization ?? "")?.[1];
  if (token !== undefined && account.methods.includes("oauth") && bearer?.admits(token) === true) {
    return "admitted";
  }
  const session = sessions.look(request.cookie, context.nowMs, context.session);
  if (session === "admitted") return session;
  const isStranger =
    session === "over" || (request.cookie === undefined && request.authorization === undefined);
  if (context.session.isOpen === true && isStranger) return "stranger";
  return session === "ended" || session === "over"
    ? endedSession(context)
    : refusal(401, "Not authenticated.", challenge(context));
};

const endedSession = (context: LoginContext): SimulatedResponse => {
  const { ends = 401 } = context.session;
  return ends === "redirect"
    ? refusal(302, "Log in.", { location: "/login?expired=1" })
    : refusal(ends, "The session has ended.", challenge(context));
};

interface Given {
  readonly email: string;
  readonly password: string;
}

const matches = (given: Given, account: Account): boolean =>
  given.email === account.email && given.password === account.password;

/** RFC 9110 §11.6.1: a 401 names a scheme. */
const challenge = ({ session, bearer }: LoginContext): SimulatedResponse["headers"] => ({
  "www-authenticate": `Basic realm="service", charset="UTF-8"${bearer === undefined ? "" : ', Bearer realm="service"'}`,
  ...(session.clearsCookies === true ? { "set-cookie": clearedCookies(session) } : {}),
});

const readEnvelope = (body: string): Given | undefined => {
  try {
    const { meta, data } = members(JSON.parse(body));
    const { email, password } = members(data);
    if (members(meta)["version"] !== "v1") return undefined;
    return typeof email === "string" && typeof password === "string" ? { email, password } : undefined;
  } catch {
    return undefined;
  }
};

const members = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** RFC 7617 §2: the user name ends at the first colon; the password may hold more of them. */
const readBasic = (authorization: string): Given | undefined => {
  const encoded = /^basic +(\S+)$/i.exec(authorization)?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const at = text.indexOf(":");
  return at < 0 ? undefined : { email: text.slice(0, at), password: text.slice(at + 1) };
};
