// How the pages of a list are asked for, where a user says it: by links, not at all, or by a query.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { parsePointer } from "../json/json-pointers.ts";

/** What stands in for the value of one parameter. */
type Placeholder =
  /** 1, 2, 3, … */
  | { readonly kind: "page" }
  /** How many entries have been received. */
  | { readonly kind: "received" }
  /** The uuid of the last entry. */
  | { readonly kind: "last" }
  /** What a JSON Pointer (RFC 6901) leads to in the page before. */
  | { readonly kind: "pointer"; readonly pointer: string; readonly tokens: readonly string[] }
  /** A header of the page before, its name in lower case. */
  | { readonly kind: "header"; readonly name: string };

export interface PageQuery {
  readonly kind: "query";
  /** Sent with every page. */
  readonly fixed: readonly (readonly [name: string, value: string])[];
  readonly parameter: string;
  readonly placeholder: Placeholder;
}

export type NextPage = { readonly kind: "links" } | { readonly kind: "none" } | PageQuery;

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
  if (text === "links" || text === "none") return { kind: text };
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
  return { kind: "query", fixed, ...query };
}

function placeholderIn(value: string): Placeholder {
  const [, inner = ""] = /^\{(.*)\}$/s.exec(value) ?? [];
  if (inner === "page" || inner === "received" || inner === "last") return { kind: inner };
  if (inner.startsWith("/")) return { kind: "pointer", pointer: inner, tokens: parsePointer(inner) };
  // RFC 9110 §5.1: a field name is a token.
  const [, name] = /^header:([\w!#$%&'*+.^`|~-]+)$/.exec(inner) ?? [];
  if (name === undefined) throw invalid(EXPECTED);
  return { kind: "header", name: name.toLowerCase() };
}

function invalid(message: string): SyncError {
  return new SyncError("CONFIG_INVALID", message, { fields: { setting: "nextPage" } });
}
