// What of a text may reach a terminal: nothing that moves its cursor, recolours it, reorders its lines
// or hides in them.

/** Of scripts in which a joiner between two letters changes how they are drawn. */
const JOINING = String.raw`[\p{scx=Arab}\p{scx=Syrc}\p{scx=Deva}\p{scx=Beng}\p{scx=Knda}\p{scx=Mlym}\p{scx=Sinh}\p{scx=Telu}]`;
/** What has no width of its own but belongs to what is drawn: in an emoji, and between letters. */
const DRAWN = String.raw`\u200d(?<=(?:\p{ExtPict}\ufe0f?|\p{EMod}).)(?=\p{ExtPict})|\ufe0f(?<=[\p{ExtPict}\d#*].)|[\u200c\u200d](?<=${JOINING}.)(?=${JOINING})`;
/**
 * Control characters, what is not drawn at all (marks that reorder a line are among it), the two other line ends of
 * Unicode, unpaired surrogates. Some programs that read lines end them at a few of these too: Python's `splitlines` does.
 */
const UNSAFE = String.raw`[\p{Control}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb\p{Surrogate}]`;
const FOUND = new RegExp(`${DRAWN}|(${UNSAFE})`, "gu");

/** The text on one line, whatever it holds: line breaks are shown as `\n`. JSON stays the same JSON. */
export function oneLine(text: string): string {
  return text.replaceAll(FOUND, (all, unsafe?: string) => (unsafe === undefined ? all : visible(unsafe)));
}

/** A text of the program's own: its line breaks and tabs stay. */
export function ownLines(text: string): string {
  return text.replaceAll(FOUND, (all, unsafe?: string) =>
    unsafe === undefined || unsafe === "\n" || unsafe === "\t" ? all : visible(unsafe),
  );
}

/** A text that may quote others: its later lines are indented, so that none of them passes for one of ours. */
export function indentedLines(text: string): string {
  return ownLines(text).replaceAll("\n", "\n  ");
}

function visible(character: string): string {
  if (character === "\n") return "\\n";
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
