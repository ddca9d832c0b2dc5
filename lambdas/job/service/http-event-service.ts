// The events of the service over HTTP: connects the parts of this folder for one account.

import { type Credentials, CurrentCredentials, type ServiceCredentials } from "../credentials/credentials.ts";
import { parsePointer } from "../json/json-pointers.ts";
import { type Proxies, proxyFor } from "../network/proxies.ts";
import { USER_AGENT } from "../runtime/version.ts";
import { type IsListed, parseNextPage } from "../settings/values.ts";
import { basicMethod, sessionMethod } from "./auth/by-password.ts";
import { byTokens, type OAuthOptions } from "./auth/oauth/by-tokens.ts";
import type { EventService } from "./event-service.ts";
import { fetchList, LIST_CAPS, type ListOptions } from "./events/list/fetch-list.ts";
import { fetchListAndTry } from "./events/list/try-next-page.ts";
import { detailRequests } from "./events/read-detail.ts";
import { shownNames } from "./events/shape.ts";
import { ACCEPT_ENCODING } from "./http/response-collector.ts";
import type { Transport } from "./http/transport.ts";
import { UndiciTransport } from "./http/undici-transport.ts";
import { AddressDoubt } from "./requests/address-doubt.ts";
import { ApiClient } from "./requests/api-client.ts";
import { type AuthenticationMethod, Authenticator } from "./requests/authenticator.ts";
import { Sender, type SenderOptions } from "./requests/sender.ts";

export interface EventServiceOptions extends Omit<SenderOptions, "headers" | "transport"> {
  /** The base URL in its canonical form. */
  readonly baseUrl: string;
  readonly credentials: ServiceCredentials;
  /** Where they were read. They are read again when the service refuses them: they may have changed. */
  readonly stored?: Credentials;
  /** What the method `oauth` needs. */
  readonly oauth?: OAuthOptions | undefined;
  /** What `is_listed` is sent as; `any` leaves it out. */
  readonly isListed: IsListed;
  /** JSON Pointers (RFC 6901) to the list and to the event, if they are not in one of the usual places. */
  readonly listPointer?: string | undefined;
  readonly detailPointer?: string | undefined;
  /** How pages of the list are asked for, where links do not say it. */
  readonly nextPage?: string | undefined;
  /** How many requests the caller makes at once, and how many connections are opened for them. */
  readonly concurrency: number;
  /** For one attempt: connect, headers and body. A page of the list has ten times as long, within the time left. */
  readonly timeoutMs?: number | undefined;
  readonly listCaps?: ListOptions["capBytes"];
  /** How long this process may still work, in milliseconds; absent where nothing limits it. */
  readonly timeLeftMs?: (() => number) | undefined;
  readonly proxies?: Proxies;
  /** Whether the base URL has answered rightly before this run. Asked only where an error depends on it. */
  readonly hasWorked?: (() => Promise<boolean>) | undefined;
  /** In place of connections to the service and to the identity provider. */
  readonly transport?: Transport | undefined;
}

/** A service may take minutes to make one page of a long list: so many times as long as for any other response. */
const LIST_TIMES = 10;

/** Sends nothing before its first use. Throws `CONFIG_INVALID` for an invalid pointer or `nextPage`. */
export function createEventService(options: EventServiceOptions): EventService {
  const {
    stored,
    clock,
    logger,
    proxies,
    timeoutMs = 30_000,
    listCaps = LIST_CAPS,
    timeLeftMs = () => Number.POSITIVE_INFINITY,
    hasWorked = async () => false,
  } = options;
  const baseUrl = new URL(options.baseUrl);
  const listPointer = options.listPointer === undefined ? undefined : parsePointer(options.listPointer);
  const detailPointer = options.detailPointer === undefined ? undefined : parsePointer(options.detailPointer);
  const nextPage = options.nextPage === undefined ? undefined : parseNextPage(options.nextPage);
  const proxy = proxies && proxyFor(baseUrl, proxies);
  const transport =
    options.transport ?? new UndiciTransport({ connections: options.concurrency, timeoutMs, proxy });
  const headers = {
    "user-agent": USER_AGENT,
    accept: "application/json",
    "accept-encoding": ACCEPT_ENCODING,
  };
  const sender = new Sender({ ...options, headers, transport });
  const method = authenticationMethod(options, { ...options, baseUrl, headers, sender });
  const authenticator = new Authenticator(baseUrl, method, { clock, logger });
  const shownName = shownNames(() => {
    const { method: _, ...sent } = method.credentials.current;
    return Object.values(sent);
  });
  const detailRequest = detailRequests(baseUrl, detailPointer, shownName);
  const list = {
    baseUrl,
    isListed: options.isListed,
    pointer: listPointer,
    nextPage,
    capBytes: listCaps,
    timeoutMs: () => Math.max(timeoutMs, Math.min(timeoutMs * LIST_TIMES, timeLeftMs())),
    shownName,
  };
  const client = new ApiClient(authenticator, sender);
  const told = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (!(error instanceof AddressDoubt)) throw error;
      const isKnown = sender.successes > 0 || (await hasWorked());
      throw isKnown ? error.atKnownAddress(clock.now()) : error;
    }
  };

  return {
    logIn: async (signal) => {
      const authorization = await told(authenticator.authorize(signal));
      await authorization.settle();
    },
    list: (signal, onTrial) =>
      told(onTrial ? fetchListAndTry(client, list, onTrial, signal) : fetchList(client, list, signal)),
    detail: (requestAs, signal, question) => told(client.get(detailRequest(requestAs, question), signal)),
    close: async () => {
      await method.close?.();
      await transport.close();
    },
    get counts() {
      return { ...sender.counts };
    },
    get clockWarning() {
      return sender.clockWarning;
    },
    get credentialsVersion() {
      const version = stored?.versionOf?.(method.credentials.current);
      return version && method.tokensVersion ? `${version} ${method.tokensVersion()}` : version;
    },
  };
}

/** Does not compile while a method of the credentials has no case. */
function authenticationMethod(
  { credentials, stored, oauth, logger }: EventServiceOptions,
  ports: Parameters<typeof byTokens>[2] & Parameters<typeof sessionMethod>[1],
): AuthenticationMethod {
  const current = <Kind extends ServiceCredentials>(first: Kind): CurrentCredentials<Kind> =>
    new CurrentCredentials(first, stored && (() => stored.read()), logger);
  switch (credentials.method) {
    case "session":
      return sessionMethod(current(credentials), ports);
    case "basic":
      return basicMethod(current(credentials));
    case "oauth":
      return byTokens(current(credentials), oauth, ports);
  }
}
