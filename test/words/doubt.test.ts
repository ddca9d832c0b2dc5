import { describe, expect, test } from "vitest";
import type { ListDoubt } from "../../lambdas/job/service/event-service.ts";
import { doubtText } from "../../lambdas/words/doubt.ts";
import { asOption } from "../../lambdas/words/style.ts";

type DoubtReader = Parameters<typeof doubtText>[1];

const UNSAID: ListDoubt = { why: "unsaid", entries: 30, places: [] };
const HERE: DoubtReader = {
  nextPage: undefined,
  style: { setting: asOption, command: () => "brand-events-sync check" },
};
const TRIED: DoubtReader = { ...HERE, trial: { found: { brought: 0, tried: ["page={page}"] } } };

describe("what is said of a list that may be a part only", () => {
  test.each<[string, ListDoubt, DoubtReader, string]>([
    [
      "nothing says that it is all",
      UNSAID,
      HERE,
      "Nothing says that the list is whole: 30 entries came. Compare with the service's own pages. If that is all, set --next-page all; else `brand-events-sync check` tries what could fit.",
    ],
    [
      "some places could have said it",
      { why: "unsaid", entries: 1, places: ["/meta/after", "X-Pages", "/size", "/cursor", "/last"] },
      HERE,
      "Nothing says that the list is whole (what could: /meta/after, X-Pages, /size and 2 more): 1 entry came. Compare with the service's own pages. If that is all, set --next-page all; else `brand-events-sync check` tries what could fit.",
    ],
    [
      "it is as long as a limit",
      { why: "limit", entries: 1_000, places: ["/limit", "/max", "/size"] },
      HERE,
      "The list may be a part only: 1,000 entries came, as many as a limit that it states (/limit, /max, /size). Compare with the service's own pages. If that is all, set --next-page none, which ignores every sign of more pages; else `brand-events-sync check` tries what could fit.",
    ],
    [
      "it ended oddly",
      { why: "empty", entries: 60, places: [] },
      HERE,
      "The list may be a part only: 60 entries came, and then a page without new entries where others were expected. Compare with the service's own pages. If that is not all, `brand-events-sync check` tries what could fit.",
    ],
    [
      "a page names something that failed",
      { why: "failed", entries: 60, places: ["/timed_out"] },
      HERE,
      "The list may be a part only: 60 entries came, and beside them the service names something that failed (/timed_out). If events are missing, ask the service's operator.",
    ],
    [
      "its pages overlap",
      { why: "overlap", entries: 12, places: [] },
      HERE,
      "The list may be a part only: 12 entries came on two of its pages, alike in every reading, so others may be on none. Compare with the service's own pages. If events are missing, ask the service's operator for pages in a fixed order.",
    ],
    [
      "what was tried brought nothing",
      UNSAID,
      TRIED,
      "Nothing says that the list is whole: 30 entries came. Compare with the service's own pages. If that is all, set --next-page all; else ask the service's operator how it is paged (without other events: page={page}).",
    ],
    [
      "what was tried brought events",
      UNSAID,
      { ...HERE, trial: { found: { fits: "page={page}", brought: 30, tried: ["cursor={/next}"] } } },
      "The list is not whole, though nothing says so: 30 entries came. Tried: with page={page} came 30 events that were not there. Set --next-page 'page={page}'.",
    ],
  ])("where %s", (_, doubt, reader, said) => {
    expect(doubtText(doubt, reader)).toBe(said);
  });

  test.each<[string | undefined, ListDoubt["why"], boolean]>([
    ["all", "unsaid", false],
    ["all", "limit", true],
    ["all", "empty", true],
    ["all", "failed", true],
    ["all", "overlap", true],
    [undefined, "unsaid", true],
  ])("with the setting %s a doubt of the kind %s is said: %s", (nextPage, why, isSaid) => {
    const said = doubtText({ ...UNSAID, why }, { ...HERE, nextPage });

    expect(said !== undefined).toBe(isSaid);
  });

  test("is nothing where there is no doubt, and counts one event as one", () => {
    const found = { fits: "page={page}", brought: 1, tried: [] };

    expect(doubtText(undefined, HERE)).toBeUndefined();
    expect(doubtText(UNSAID, { ...HERE, trial: { found } })).toContain("came 1 event that was not there");
  });
});
