// What a page without entries is: the end of the list, an error of the service, or neither for sure.

import { formatPointer, isObject } from "../../../json/json-pointers.ts";
import { isFilled } from "../failure-beside.ts";
import type { ShownName } from "../shape.ts";
import type { ListPage } from "./list-page.ts";
import { Name } from "./page-words.ts";

type Body = Pick<ListPage, "beside" | "path">;

const FAILED = /error|fail|exception|timed?[ _-]?out|unavailable/i;
const SUCCEEDED = /^(?:success|succeeded|successful|ok)$/i;
/** No error, although one is named. */
const NONE = /^(?:none|null|false|0|ok|success\w*)?$/i;
const DENIED = /\b(?:no|0|without)\b/i;
/** An address, or a number with a unit. */
const SETTING = /^(?:\/|https?:|[\d.]+\s?[a-z]{1,7}$)/i;
/** What is counted; a code is none. */
const COUNTED = /error|fail|exception/i;
/** How a request went. */
const STATE = /code|status|success|message|^ok$|^msg$/i;

/** A member that is no object, or an empty one, and what leads to it. */
interface Leaf {
  readonly names: readonly string[];
  readonly value: unknown;
}

/** By place. */
type Leaves = ReadonlyMap<string, Leaf>;

/** The place where a page with entries names something that failed: what is missing then, only the service knows. */
export function failureNamed(page: Body, shownName: ShownName): string | undefined {
  // A text elsewhere is about something else, as is `errors_url`.
  const isAboutIt = ({ names, value }: Leaf): boolean =>
    names.some((name) => FAILED.test(name) || STATE.test(name)) && !SETTING.test(String(value));
  const found = leavesOf(page)
    .values()
    .find((leaf) => isFailure(leaf) && isAboutIt(leaf));
  return found && formatPointer(found.names.map(shownName));
}

/** The same of a page without entries, for which any error counts. @param before the last page with entries: what is as it was there is no error */
export function failureOfEmpty(
  page: Body,
  before: Body | undefined,
  shownName: ShownName,
): string | undefined {
  const known = before && leavesOf(before);
  const found = leavesOf(page)
    .entries()
    .find(([place, leaf]) => isFailure(leaf) && !isAsBefore(leaf, known?.get(place)));
  return found && formatPointer(found[1].names.map(shownName));
}

/**
 * Whether a page without entries is not as one behind the last page would be: beside what is about paging it lacks a member
 * of the page before, or has one of its own, or says otherwise how the request went.
 * @param isNamed the page before named this one; a number may lead behind the end, where other members are usual
 */
export function isOddEnd(page: Body, before: Body, isNamed: boolean): boolean {
  const [known, own] = [besidePaging(before), besidePaging(page)];
  const lacksOne = isNamed && known.keys().some((place) => !own.has(place));
  return (
    lacksOne ||
    own.entries().some(([place, leaf]) => {
      const earlier = known.get(place);
      if (earlier === undefined) return isFilled(leaf.value);
      return STATE.test(leaf.names.at(-1) ?? "") && !isAsBefore(leaf, earlier);
    })
  );
}

function isAsBefore({ value }: Leaf, before: Leaf | undefined): boolean {
  return before !== undefined && JSON.stringify(value) === JSON.stringify(before.value);
}

function isFailure({ names, value }: Leaf): boolean {
  const name = names.at(-1) ?? "";
  if (SUCCEEDED.test(name)) return value === false || value === "false";
  const at = names.findIndex((each) => FAILED.test(each));
  const isInside = at !== -1 && at < names.length - 1;
  if (isInside) return isFilled(value) && !NONE.test(String(value));
  // Statuses of HTTP; other codes have no meaning that is known.
  if (/code$|status$|^error$/i.test(name) && Number(value) >= 400 && Number(value) < 600) return true;
  if (typeof value === "string")
    return (
      !NONE.test(value) && !DENIED.test(value) && (at !== -1 || FAILED.test(value) || isPart(name, value))
    );
  if (typeof value === "number") return value > 0 && COUNTED.test(name) && !/code/i.test(name);
  return at !== -1 && isFilled(value);
}

/** `status: "PARTIAL_SUCCESS"`. The word `more` stands in messages of any kind. */
function isPart(name: string, value: string): boolean {
  const words = new Name(value);
  return STATE.test(name) && words.has("more") && !words.hasWord("more");
}

function besidePaging(page: Body): Leaves {
  const isAboutPaging = (name: string): boolean => new Name(name).hasOther("entry", "box", "filler");
  return new Map(
    leavesOf(page)
      .entries()
      .filter(([, { names }]) => !names.some(isAboutPaging)),
  );
}

/** More of them say nothing more. */
const MAX_LEAVES = 1_000;
const MAX_DEPTH = 6;

/** What a page has beside its list. An array is one value. */
function leavesOf({ beside, path }: Body): Leaves {
  const found = new Map<string, Leaf>();
  const visit = (names: readonly string[], value: unknown, rest: readonly string[] | undefined): void => {
    // The list itself.
    if (rest?.length === 0 || found.size === MAX_LEAVES) return;
    const members = isObject(value) && names.length < MAX_DEPTH ? Object.entries(value) : [];
    if (members.length === 0) found.set(formatPointer(names), { names, value });
    for (const [key, inner] of members)
      visit([...names, key], inner, rest?.[0] === key ? rest.slice(1) : undefined);
  };
  visit([], JSON.parse(beside), path);
  return found;
}
