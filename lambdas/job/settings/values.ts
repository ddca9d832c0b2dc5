// What values may be. Each schema says in plain English what it expects.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { parsePointer } from "../json/json-pointers.ts";
import { isLoopback, parseUrl } from "../network/proxies.ts";

/** @param expectation `expected …`, as the person with the wrong value reads it */
export function text(expectation: string, isValid: (value: string) => boolean): z.ZodString {
  return z.string(expectation).refine(isValid, expectation);
}

export const trueOrFalse = z.boolean("expected true or false");

export function wholeNumber(least: number, most: number): z.ZodInt {
  const error = `expected a whole number from ${least} to ${most}`;
  return z.int(error).min(least, error).max(most, error);
}

/** How many events a dry run or `discover` fetches. */
export const eventLimit = wholeNumber(1, 1e9);

const ACCOUNT_NAME =
  "expected a name of 1 to 40 characters of a-z, 0-9, _ and -, beginning with a letter or digit";

/** The name is a segment of keys and a value of partition columns. */
export const accountName = z.string(ACCOUNT_NAME).regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, ACCOUNT_NAME);

export const databaseName = text(
  "expected a name of 1 to 255 characters of a-z, 0-9 and _, for the Glue database",
  (value) => /^[a-z0-9_]{1,255}$/.test(value),
);

/** Which events the service is asked for (docs/service-interface.md §3.2); `any` sends no filter. */
export const isListed = z.enum(["true", "false", "any"], 'expected "true", "false" or "any"');

export type IsListed = z.output<typeof isListed>;

/** With capitals as in `Port_of_Spain` and `DumontDUrville`: no name has four in a row. */
const AREA_AND_PLACE = /^(?!.*[A-Z]{4})(?:US|[A-Z][a-z]+)(?:[/_+-](?:[A-Z\d][A-Za-z\d]*|of|es|au))+$/;

/** A zone that EventBridge Scheduler has too: it takes no offset, no other abbreviation and no other capitals. */
export const timeZone = text(
  "expected UTC, GMT, or a time zone by its area and place, such as Europe/London",
  (value) => {
    if (value === "UTC" || value === "GMT") return true;
    if (!AREA_AND_PLACE.test(value)) return false;
    try {
      const { timeZone: known } = new Intl.DateTimeFormat("en", { timeZone: value }).resolvedOptions();
      // ICU ignores capitals, and says Asia/Calcutta for Asia/Kolkata.
      return known === value || known.toLowerCase() !== value.toLowerCase();
    } catch {
      return false;
    }
  },
);

/** AWS takes 50 for each resource; one is the deployment's own. */
const MAX_TAGS = 49;

/** The tags of every resource that takes tags. */
export const tags = z
  .record(
    text(
      "expected a tag of 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:",
      (key) => /^(?!aws:)[\p{L}\p{Z}\p{N}_.:/=+\-@]{1,128}$/iu.test(key),
    ),
    text("expected up to 256 letters, digits, spaces and _ . : / = + - @", (value) =>
      /^[\p{L}\p{Z}\p{N}_.:/=+\-@]{0,256}$/u.test(value),
    ),
    'expected tags as an object of texts, such as {"cost-center": "4711"}',
  )
  .refine((given) => Object.keys(given).length <= MAX_TAGS, `expected at most ${MAX_TAGS} tags`)
  // IAM takes them for one.
  .refine(haveOwnNames, "expected tags whose names differ in more than capital letters");

function haveOwnNames(given: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(given);
  return new Set(keys.map((key) => key.toLowerCase())).size === keys.length;
}

const MOST = 1e12;
const LIMIT = `expected a whole number from 1 to ${MOST}, or "unlimited"`;

export const limit = z
  .union([z.literal("unlimited"), z.number()], LIMIT)
  .refine(
    (value) => value === "unlimited" || (Number.isInteger(value) && value >= 1 && value <= MOST),
    LIMIT,
  );

export type Limit = z.output<typeof limit>;

/** Retries and clocks that differ need room below the limit. */
const SHARE = 0.9;

/** What may be used of a limit in a window that it is averaged over: 90 %, but always one. Without a limit, Infinity. */
export function allowance(perMinute: Limit, windowMs = 60_000, share = SHARE): number {
  if (perMinute === "unlimited") return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.floor(((perMinute * windowMs) / 60_000) * share));
}

export interface Limits {
  readonly requestsPerMinute: Limit;
  /** Body bytes after decoding: some services count so, and on the others it is the safe side. */
  readonly bytesPerMinute: Limit;
  /** The limits hold on average over any time of this length, so in a longer one more may go at once. */
  readonly windowMs: number;
}

/** A window in which less than one request is allowed is too short: one must always be. */
export function windowMsOf({ requestsPerMinute, windowMs }: Limits): number {
  return requestsPerMinute === "unlimited"
    ? windowMs
    : Math.max(windowMs, Math.ceil(60_000 / requestsPerMinute));
}

// The addresses of servers as people paste them, in their one canonical form. No message shows one that may hold a
// password.

/**
 * The service, as text, without `/`, `/v1` or an endpoint (docs/service-interface.md §3) at the end of its path. Run
 * fingerprints contain it.
 */
export const baseUrl = server("https://api.example.com", ["/v1/auth/login", "/v1/events", "/v1", "/"]);

/** The identity provider, as text, without an endpoint (docs/service-interface.md §3.4 to §3.6) at the end. */
export const authUrl = server("https://login.example.com", [
  "/oauth/authorize",
  "/oauth/token",
  "/oauth",
  "/",
]);

/** Where a run posts how it ended, as the parser writes it. The whole URL is a secret: who has it may post there. */
export const notifyUrl = address(
  "expected an https: URL",
  () => false,
  (url) => {
    if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
      return "expected an https: URL, or one with http: to this computer";
    if (url.username !== "" || url.password !== "") return "expected a URL without a user name and password";
    return url.hash === "" ? undefined : "expected a URL without a fragment";
  },
);

/** The address in the `cdk.json` of this project, which stands for the user's own. */
const PLACEHOLDER = "https://api.example.com/";

/** @param canonical as the schema makes it */
export function isPlaceholder(canonical: string): boolean {
  return canonical === PLACEHOLDER;
}

/** @param example what an address looks like; @param pasted what people paste after the address, which is dropped */
function server(example: string, pasted: readonly string[]) {
  const absolute = `expected an absolute URL such as ${example}`;
  const isShown = (text: string): boolean => !/[@?#]/.test(text);
  return address(absolute, isShown, (url) => {
    if (url.protocol !== "https:" && url.protocol !== "http:") return absolute;
    if (url.username !== "" || url.password !== "") {
      return "expected a URL without a user name and password, which belong in the credentials";
    }
    if (url.search !== "" || url.hash !== "") return "expected a URL without a query or a fragment";
    if (url.protocol === "http:" && !isLoopback(url.hostname)) {
      return "expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only";
    }
    url.pathname = trimmed(url.pathname, pasted);
    return undefined;
  });
}

/**
 * A URL as the parser writes it.
 * @param isShown whether messages may repeat a text
 * @param check says what is wrong with the URL, and may change one that is right
 */
function address(
  expected: string,
  isShown: (text: string) => boolean,
  check: (url: URL) => string | undefined,
) {
  return z.string(expected).transform((text, context) => {
    const url = parseUrl(text.trim());
    const message = url === null ? expected : check(url);
    if (url !== null && message === undefined) return url.href;
    context.addIssue({ code: "custom", message, params: { isShown: isShown(text) } });
    return z.NEVER;
  });
}

/** Without anything pasted at the end, so that the canonical form of a canonical form is itself. */
function trimmed(path: string, pasted: readonly string[]): string {
  // A regular expression for it would take quadratic time on a text of many slashes.
  let end = path.length;
  for (;;) {
    const found = pasted.find((text) => path.endsWith(text, end));
    if (found === undefined) return path.slice(0, end);
    end -= found.length;
  }
}

// How the pages of a list are asked for, where a user says it: by links, not at all, or by a query.

/** What stands in for the value of one parameter. `place`: where in the page before the value is, in words. */
type Placeholder =
  /** 1, 2, 3, …; how many entries have been received; the uuid of the last one. */
  | { readonly kind: "page" | "received" | "last"; readonly place?: never }
  /** The next page is what a JSON Pointer (RFC 6901) leads to. */
  | { readonly kind: "pointer"; readonly place: string; readonly tokens: readonly string[] }
  /** A header, its name in lower case. */
  | { readonly kind: "header"; readonly place: string; readonly name: string };

export interface PageQuery {
  /** Sent with every page. */
  readonly fixed: readonly (readonly [name: string, value: string])[];
  readonly parameter: string;
  readonly placeholder: Placeholder;
}

/** `all`: no sign of pages was seen, and a person has said that the list is whole; strong signs count anyway. */
export type NextPage = "all" | "links" | "none" | PageQuery;

const NEXT_PAGE =
  'expected "all", "links", "none", or a query in which one of {page}, {received}, {last}, {/pointer} or {header:NAME} is the ' +
  "whole value of one parameter, such as page={page}&per_page=100";

export const nextPage = z.string(NEXT_PAGE).superRefine((text, context) => {
  try {
    parseNextPage(text);
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
  }
});

/** Throws `CONFIG_INVALID`. */
export function parseNextPage(text: string): NextPage {
  if (text === "all" || text === "links" || text === "none") return text;
  const fixed: [string, string][] = [];
  let query: Pick<PageQuery, "parameter" | "placeholder"> | undefined;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.toLowerCase() === "is_listed")
      throw invalid("expected a query without is_listed, which --is-listed (isListed) sets");
    if (name === "") throw invalid(NEXT_PAGE);
    if (!/[{}]/.test(value)) fixed.push([name, value]);
    else if (query === undefined) query = { parameter: name, placeholder: placeholderIn(value) };
    else throw invalid(NEXT_PAGE);
  }
  if (query === undefined || fixed.some(([name]) => name === query.parameter)) throw invalid(NEXT_PAGE);
  return { fixed, ...query };
}

function placeholderIn(value: string): Placeholder {
  const [, inner = ""] = /^\{(.*)\}$/s.exec(value) ?? [];
  if (inner === "page" || inner === "received" || inner === "last") return { kind: inner };
  if (inner.startsWith("/")) return { kind: "pointer", place: inner, tokens: parsePointer(inner) };
  // RFC 9110 §5.1: a field name is a token.
  const [, name] = /^header:([\w!#$%&'*+.^`|~-]+)$/.exec(inner) ?? [];
  if (name === undefined) throw invalid(NEXT_PAGE);
  return { kind: "header", place: `header ${name}`, name: name.toLowerCase() };
}

function invalid(message: string): SyncError {
  return new SyncError("CONFIG_INVALID", message, { fields: { setting: "nextPage" } });
}
