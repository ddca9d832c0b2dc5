// The commands and answers in docs/runbook.md, and how an answer is compared with the page.

import { sectionOf } from "../markdown.ts";

export interface Step {
  readonly command: string;
  /** As the page shows it. */
  readonly answer: string;
}

/** The snapshots' names on the page. */
export const SHOWN = { head: "2026-11-20T06-00-00.000Z", held: "2026-11-21T06-00-00.000Z" } as const;

/** Each block with a command, and the block of its answer below it. */
export function stepsBelow(heading: string): readonly Step[] {
  const blocks = blocksBelow(heading);
  return blocks.flatMap(({ language, text }, at) => {
    const answer = blocks[at + 1]?.text;
    return language === "sh" && answer !== undefined ? [{ command: text, answer }] : [];
  });
}

/** The lines of the first block without a command. */
export function mailBelow(heading: string): readonly string[] {
  return (
    blocksBelow(heading)
      .find(({ language }) => language === "text")
      ?.text.split("\n") ?? []
  );
}

/** The event in `ask "…"`, with the names of a test. */
export function askedIn(command: string, account: string, held: string): unknown {
  const [, quoted = ""] = /^ask "(.*)"$/.exec(command) ?? [];
  return JSON.parse(
    quoted.replaceAll('\\"', '"').replaceAll("$ACCOUNT", account).replaceAll(SHOWN.held, held),
  );
}

/** A text of a test, with the names of the page. */
export function asShown(text: string, ids: { readonly head: string; readonly held: string }): string {
  return text.replaceAll(ids.head, SHOWN.head).replaceAll(ids.held, SHOWN.held);
}

function blocksBelow(heading: string) {
  const found = sectionOf("runbook.md", heading).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...found].map(([, language = "", text = ""]) => ({ language, text: text.trim() }));
}
