// One value as one line of NDJSON, whatever texts it holds.

/** No newline at the end. Keys stay in the order given. */
export function jsonLine(value: object): string {
  const json = JSON.stringify(value);
  // Some readers end a line at these three, which JSON allows inside strings. They cannot occur elsewhere in JSON.
  // Looked for one by one, because `includes` is far faster than a pattern on texts that have none.
  return LINE_ENDS.some((end) => json.includes(end)) ? json.replace(/[\u0085\u2028\u2029]/g, escaped) : json;
}

const LINE_ENDS = ["\u0085", "\u2028", "\u2029"] as const;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
