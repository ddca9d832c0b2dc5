// Which values of `nextPage` probably ask for the next page. None of them was tried: `check` and `init` do that.

import type { Clue, PageHints } from "./page-hints.ts";
import { Name } from "./page-words.ts";

const MOST = 3;

/** What has been received so far, pages and entries, and the uuid of the last event. */
export interface Received {
  readonly pages: number;
  readonly entries: number;
  readonly last: string | undefined;
}

/** The best first; at most three. */
export function nextPageCandidates({ links, clues }: PageHints, received: Received): readonly string[] {
  const of = (kind: Clue["kind"]): readonly Clue[] => clues.filter((clue) => clue.kind === kind);
  const byPlace = ({ parameter, place }: Clue): string => `${encodeURIComponent(parameter)}={${place}}`;
  const counted = of("counted").map(({ parameter }) =>
    parameter === "page" ? "page={page}" : `${encodeURIComponent(parameter)}={received}`,
  );
  const all = [
    ...links.flatMap((link) => ofLink(link, clues, received)),
    ...of("next").map(byPlace),
    ...of("cursor").map(byPlace),
    ...counted.filter((each) => each !== "page={page}"),
    "page={page}",
    "offset={received}",
  ];
  return [...new Set(all)].slice(0, MOST);
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
    const place = found ?? clue?.place;
    const isSize = new Name(name).has("limit", "size");
    return place === undefined || value === "" || isSize ? [] : [`${encodeURIComponent(name)}={${place}}`];
  });
}
