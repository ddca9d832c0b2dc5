// Texts on which an expression that tries many ways takes long: a piece many times over, then what does not fit.

const LENGTH = 65_536;
/** What classes such as `\w`, `\d`, `\s` and `.` take and do not take. */
const USUAL = ["a", "0", " ", "\n"];
const SYNTAX = /\(\?[:=!<]+|\\[a-zA-Z]|\\?[()[\]{}?*+|^$.\\]/g;

/** Made for the expression: of the characters in it, alone, in pairs and all together, behind its own beginning. */
export function* hostileTexts({ source }: RegExp): Generator<string> {
  const sample = source.replaceAll(/\\s[*+?]?/g, " ").replaceAll(SYNTAX, "");
  const characters = [...new Set([...sample, ...USUAL])].slice(0, 10);
  const start = /^\^?((?:\\?[^\\()[\]{}?*+|^$.])+)/.exec(source)?.[1]?.replaceAll("\\", "") ?? "";
  const misfits = ["\n\u0000", ...characters.map((character) => `${character}\n\u0000`)];
  for (const piece of characters) for (const end of misfits) yield start + piece.repeat(LENGTH) + end;
  const pairs = characters.flatMap((one) => characters.map((two) => one + two));
  for (const piece of [...pairs, sample]) {
    if (piece !== "") yield `${start}${piece.repeat(LENGTH / piece.length)}\n\u0000`;
  }
}
