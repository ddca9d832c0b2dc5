// Whether a list that was read to its end is whole, where it does not state how many entries it has.

import type { NextPage } from "../../../settings/values.ts";
import type { ListDoubt } from "../../event-service.ts";
import type { FetchedPage } from "./read-page.ts";

interface ListEnd {
  /** How many came. */
  readonly pages: number;
  readonly entries: number;
  readonly last: FetchedPage | undefined;
  /** A page without entries was not as the end of a list is. */
  readonly isOdd: boolean;
}

/** Undefined where the last page, links to it, or `nextPage` say that it is whole. */
export function doubtAt(
  { pages, entries, last, isOdd }: ListEnd,
  nextPage: NextPage | undefined,
): ListDoubt | undefined {
  if (isOdd) return { why: "empty", entries, places: [] };
  const isSaid = nextPage !== undefined && nextPage !== "all";
  if (last === undefined || isSaid || last.hints.end === "said") return undefined;
  // A page without entries names no next one either where it stands for one that failed.
  if (last.hints.end === "empty" && (pages === 1 || last.entries > 0)) return undefined;
  const { places, limits } = last.hints;
  const limit = limits.find(({ value }) => value === entries && value > 0);
  if (limit !== undefined && pages === 1) return { why: "limit", entries, places: [limit.place, ...places] };
  if (nextPage === "all" || (pages > 1 && last.entries > 0)) return undefined;
  return { why: pages > 1 ? "empty" : "unsaid", entries, places };
}
