// What of a text may reach a terminal: nothing that moves its cursor, recolours it or reorders its lines.

/**
 * Control characters, the marks that reorder a line, the two other line ends of Unicode, unpaired surrogates.
 * Some programs that read lines end them at a few of these too: Python's `splitlines` does.
 */
const UNSAFE = /[\p{Control}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Surrogate}]/gu;

/** The text on one line, whatever it holds: line breaks are shown as `\n`. JSON stays the same JSON. */
export function oneLine(text: string): string {
  return text.replaceAll(UNSAFE, visible);
}

/** A text of the program's own: its line breaks and tabs stay. */
export function ownLines(text: string): string {
  return text.replaceAll(UNSAFE, (character) =>
    character === "\n" || character === "\t" ? character : visible(character),
  );
}

/** A text that may quote others: its later lines are indented, so that none of them passes for one of ours. */
export function indentedLines(text: string): string {
  return ownLines(text).replaceAll("\n", "\n  ");
}

function visible(character: string): string {
  return character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
