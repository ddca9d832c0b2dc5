// Whether a list that was read to its end is whole, where it does not state how many entries it has; and which values of
// `nextPage` probably ask for more of one that is not. None of them was tried: `check` and `init` do that.

import { type NextPage, nextPage as setting } from "../../../settings/values.ts";
import type { ListDoubt } from "../../event-service.ts";
import type { Clue, PageHints } from "./page-hints.ts";
import { Name } from "./page-words.ts";
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
  const { end, limits = [], places = [] } = last?.hints ?? {};
  if (isSaid || end === "said") return undefined;
  const isAll = nextPage === "all";
  // A page without entries names no next one either where it stands for one that failed.
  if (pages > 1) return isAll || last?.entries !== 0 ? undefined : { why: "empty", entries, places };
  if (end === "empty") return undefined;
  const limit = limits.find(({ value }) => value === entries && value > 0);
  if (limit !== undefined) return { why: "limit", entries, places: [limit.place, ...places] };
  return isAll ? undefined : { why: "unsaid", entries, places };
}

const MOST_CANDIDATES = 3;

/** What has been received so far, pages and entries, and the uuid of the last event. */
interface Received {
  readonly pages: number;
  readonly entries: number;
  readonly last: string | undefined;
}

/** Values of `nextPage`, the best first; at most three, and none that the setting refuses. */
export function nextPageCandidates({ links, clues }: PageHints, received: Received): readonly string[] {
  const of = (kind: Clue["kind"]): readonly Clue[] => clues.filter((clue) => clue.kind === kind);
  const byPlace = ({ parameter, place }: Clue): string => `${encodeURIComponent(parameter)}={${place}}`;
  const all = [
    ...links.flatMap((link) => ofLink(link, clues, received)),
    ...of("next").map(byPlace),
    ...of("cursor").map(byPlace),
    ...of("counted").map(({ parameter }) => `${encodeURIComponent(parameter)}={received}`),
    "page={page}",
    "offset={received}",
  ];
  return [...new Set(all)].filter((each) => setting.safeParse(each).success).slice(0, MOST_CANDIDATES);
}

/** The parameter of an address that a page names, by what its value is. */
function ofLink(link: string, clues: readonly Clue[], { pages, entries, last }: Received): readonly string[] {
  const query = link.slice(link.indexOf("?") + 1).replace(/#.*/s, "");
  return [...new URLSearchParams(query)].flatMap(([name, value]) => {
    const clue = clues.find((each) => String(each.value) === value);
    const found = new Map([
      [String(entries), "received"],
      [last, "last"],
      [String(pages), "page"],
      [String(pages + 1), "page"],
    ]).get(value);
    // The setting refuses `{}`: the value is of something else.
    const place = found ?? clue?.place ?? "";
    const isSize = new Name(name).has("limit", "size");
    return isSize ? [] : [`${encodeURIComponent(name)}={${place}}`];
  });
}
