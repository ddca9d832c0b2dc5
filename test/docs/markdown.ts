// What tests read of the pages in docs/: sections, tables, codes.

import { readFileSync } from "node:fs";

interface MarkdownTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** The file that the line before the block names, if it names one. */
  readonly file: string | undefined;
}

/** All of them: throws where one begins or ends otherwise than at the beginning of a line. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const text = read(page);
  const found = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  const fences = text.match(/```/g)?.length ?? 0;
  if (fences !== 2 * found.length) throw new Error(`${page} has a block of code in an unusual form`);
  return found.map(({ 1: language = "", 2: code = "", index }) => {
    const line = text.slice(0, index).trimEnd().split("\n").at(-1) ?? "";
    return { language, code, file: /`([\w/]+\.\w+)`/.exec(line)?.[1] };
  });
}

/** The first table of a section. */
export function tableBelow(page: string, heading: string): MarkdownTable {
  const lines = sectionOf(page, heading).split("\n");
  const from = lines.findIndex((line) => line.startsWith("|"));
  const end = lines.findIndex((line, index) => index > from && !line.startsWith("|"));
  const [header = [], , ...rows] = lines.slice(from, end === -1 ? undefined : end).map(cells);
  return { header, rows };
}

/** The first list of a section whose items are `- term: text`: the terms, as they stand. */
export function termsBelow(page: string, heading: string): readonly string[] {
  const [, list = ""] = /((?:^- [^\n]*\n)+)/m.exec(sectionOf(page, heading)) ?? [];
  return [...list.matchAll(/^- ((?:`[^`]*`|[^`:])+):/gm)].map(([, term = ""]) => term);
}

export function column({ header, rows }: MarkdownTable, name: string): readonly string[] {
  const index = header.indexOf(name);
  return rows.map((row) => unquoted(row[index] ?? ""));
}

/** From the heading's line to the next heading. Throws where there is no such heading, or several. */
export function sectionOf(page: string, heading: string): string {
  const sections = read(page)
    .split(/^(?=#+ )/m)
    .filter((section) => section.startsWith(`${heading}\n`));
  const [section] = sections;
  if (section === undefined || sections.length > 1)
    throw new Error(`${sections.length} headings "${heading}" in ${page}`);
  return section;
}

const cells = (line: string): readonly string[] =>
  line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

export const unquoted = (text: string | undefined): string => (text ?? "").replace(/^`(.*)`$/, "$1");

export const codesIn = (text: string): readonly string[] =>
  [...text.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, code = ""]) => code);

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
