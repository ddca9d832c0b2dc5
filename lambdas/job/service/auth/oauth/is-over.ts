// Whether a refusal of the identity provider names the refresh token, or the code, as over. RFC 6749 §5.2 has one form for
// it, `{"error":"invalid_grant"}`; providers have many. A refusal that is taken for one although it passes would stop a
// schedule for a day, so only codes count, and the statuses that refuse.

import { isObject, type JsonObject } from "../../../json/json-pointers.ts";

const STATUSES: ReadonlySet<number> = new Set([200, 400, 401, 403]);

/** @param hasWorked whether a request of this kind was accepted before, so that its form is right */
export function isOver(status: number, members: JsonObject | undefined, hasWorked: boolean): boolean {
  if (members === undefined || !STATUSES.has(status)) return false;
  const codes = codesIn(members, "", 0);
  if (codes.some((code) => NOT_THE_TOKEN.test(plain(code)))) return false;
  return codes.some((code) => namesToken(code) || (hasWorked && REFUSES_ALL.test(plain(code))));
}

/** What passes, and what is about the client. */
const NOT_THE_TOKEN =
  /temporar|unavailable|servererror|slowdown|ratelimit|throttl|toomany|timeout|timedout|maintenance|overload|retry|tryagain|pending|^internal|(?:invalid|unauthorized)client$/;

/** From providers that have no other code for a token that is over. */
const REFUSES_ALL = /(?:invalidrequest|accessdenied)$/;

const IS_OVER = /invalid(?:grant|token)$/;
const TOKEN_IS_OVER = /expired|revoked|inactive|not(?:valid|active)/;
/** Some refuse to renew early. */
const IS_YOUNG = /(?:not|un)(?:yet)?expired/;
/** OpenID Connect Core §3.1.2.6: the person has to come back. */
const NEEDS_PERSON = /^(?:login|consent|interaction)required$/;
/** About the form of the request: another authorization would not change it. */
const ABOUT_FORM = /missing|required|supported/;

function namesToken(text: string): boolean {
  const code = plain(text);
  if (IS_YOUNG.test(code)) return false;
  if (IS_OVER.test(code) || NEEDS_PERSON.test(code)) return true;
  if (!code.includes("token")) return false;
  if (TOKEN_IS_OVER.test(code)) return true;
  if (!code.includes("refresh") || ABOUT_FORM.test(code)) return false;
  // Words may also say that a renewal went wrong; the name of the parameter alone says nothing.
  return isWords(text)
    ? /invalid|notfound|unknown/.test(code)
    : !/^(?:refreshtoken|tokenrefresh)$/.test(code);
}

/** Members with a code, or a title of a few words. */
const CODES =
  /^(?:error|fault)?code$|^errors?$|^error(?:key|name|status|type)$|^suberror$|^(?:key|name|reason|status|title|type)$/;
/** Members for people, which hold a code at some providers. */
const TEXTS = /^(?:error)?(?:description|message)$|^(?:detail|msg)$/;
/** Members that name the parameter which the code beside them is about. */
const FIELDS = ["field", "param", "parameter"];

const MAX_CHARS = 200;
/** Longer ones are sentences. */
const MAX_TITLE_CHARS = 60;
const MAX_DEPTH = 5;

/** The codes of an answer, as they came. */
function codesIn(value: unknown, name: string, depth: number): readonly string[] {
  if (typeof value === "string") return isCode(value, plain(name)) ? [value] : [];
  if (depth === MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((each) => codesIn(each, name, depth + 1));
  if (!isObject(value)) return [];
  const codes = Object.entries(value).flatMap(([key, each]) => codesIn(each, key, depth + 1));
  return [...codes, ...FIELDS.flatMap((key) => invalidField(value[key], value["code"]))];
}

/** The codes that such a pair means: `"field":"refresh_token","code":"invalid"`. */
function invalidField(field: unknown, code: unknown): readonly string[] {
  if (typeof field !== "string" || typeof code !== "string") return [];
  return /^(?:invalid|expired|revoked|notfound|unknown)$/.test(plain(code)) ? [`invalid_${field}`] : [];
}

function isCode(text: string, member: string): boolean {
  if (isWords(text)) return CODES.test(member) && text.length <= MAX_TITLE_CHARS;
  return (CODES.test(member) || TEXTS.test(member)) && text.length <= MAX_CHARS;
}

function isWords(text: string): boolean {
  return /\s/.test(text);
}

/** A code without case and what divides its words; of a URL the last part. */
function plain(code: string): string {
  const last = code.slice(Math.max(code.lastIndexOf("/"), code.lastIndexOf("#")) + 1);
  return last.toLowerCase().replaceAll(/[^a-z]/g, "");
}
