// How the pages of a list are asked for, where a user says it: by links, not at all, or by a query.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { parsePointer } from "../json/json-pointers.ts";

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

export type NextPage = "links" | "none" | PageQuery;

const EXPECTED =
  'expected "links", "none", or a query in which one of {page}, {received}, {last}, {/pointer} or {header:NAME} is the ' +
  "whole value of one parameter, such as page={page}&per_page=100";

export const nextPage = z.string(EXPECTED).superRefine((text, context) => {
  try {
    parseNextPage(text);
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
  }
});

/** Throws `CONFIG_INVALID`. */
export function parseNextPage(text: string): NextPage {
  if (text === "links" || text === "none") return text;
  const fixed: [string, string][] = [];
  let query: Pick<PageQuery, "parameter" | "placeholder"> | undefined;
  for (const [name, value] of new URLSearchParams(text)) {
    if (name.toLowerCase() === "is_listed")
      throw invalid("expected a query without is_listed, which --is-listed (isListed) sets");
    if (name === "") throw invalid(EXPECTED);
    if (!/[{}]/.test(value)) fixed.push([name, value]);
    else if (query === undefined) query = { parameter: name, placeholder: placeholderIn(value) };
    else throw invalid(EXPECTED);
  }
  if (query === undefined || fixed.some(([name]) => name === query.parameter)) throw invalid(EXPECTED);
  return { fixed, ...query };
}

function placeholderIn(value: string): Placeholder {
  const [, inner = ""] = /^\{(.*)\}$/s.exec(value) ?? [];
  if (inner === "page" || inner === "received" || inner === "last") return { kind: inner };
  if (inner.startsWith("/")) return { kind: "pointer", place: inner, tokens: parsePointer(inner) };
  // RFC 9110 §5.1: a field name is a token.
  const [, name] = /^header:([\w!#$%&'*+.^`|~-]+)$/.exec(inner) ?? [];
  if (name === undefined) throw invalid(EXPECTED);
  return { kind: "header", place: `header ${name}`, name: name.toLowerCase() };
}

function invalid(message: string): SyncError {
  return new SyncError("CONFIG_INVALID", message, { fields: { setting: "nextPage" } });
}
