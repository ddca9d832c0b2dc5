// How many columns a text takes on a terminal, and how to cut it to fit.

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });
const WIDE_EMOJI = /^\p{Emoji_Presentation}|\uFE0F/u;
const ZERO_WIDTH = /^[\p{Mark}\p{Format}]+$/u;

/** First and last code points that Unicode's EastAsianWidth.txt calls wide or fullwidth, in whole blocks. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x17000, 0x18cff],
  [0x1b000, 0x1b2ff],
  [0x20000, 0x3fffd],
];

/** Columns of a text without control characters. */
export function displayWidth(text: string): number {
  return /^[\x20-\x7e]*$/.test(text)
    ? text.length
    : [...GRAPHEMES.segment(text)].reduce((sum, { segment }) => sum + graphemeWidth(segment), 0);
}

/** The text, or as much of its beginning as fits with an ellipsis. No grapheme is cut in two. */
export function cutToWidth(text: string, width: number): string {
  // A column takes at least one code unit but for marks, so the rest of a long text needs no look.
  const head = text.slice(0, width * 16);
  if (head.length === text.length && displayWidth(text) <= width) return text;
  let kept = "";
  let columns = 1;
  for (const { segment } of GRAPHEMES.segment(head)) {
    columns += graphemeWidth(segment);
    if (columns > width) break;
    kept += segment;
  }
  return `${kept}…`;
}

function graphemeWidth(grapheme: string): number {
  if (ZERO_WIDTH.test(grapheme)) return 0;
  if (WIDE_EMOJI.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  return WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
