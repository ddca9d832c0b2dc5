// One value as one line of NDJSON, for every reader.

/** No newline at the end. Keys stay in the order given. */
export function jsonLine(value: object): string {
  const json = JSON.stringify(value);
  // Some readers end a line at these three, which JSON allows inside strings. They cannot occur elsewhere in JSON.
  // Looked for one by one, because `includes` is far faster than a pattern on texts that have none.
  return LINE_ENDS.some((end) => json.includes(end)) ? json.replace(/[\u0085\u2028\u2029]/g, escaped) : json;
}

/** Of the line in UTF-8, without making it: to replace millions of characters takes seconds, to count them does not. */
export function jsonLineBytes(value: object): number {
  const json = JSON.stringify(value);
  return LINE_ENDS.reduce(
    (bytes, end) => bytes + count(json, end) * (escaped(end).length - Buffer.byteLength(end)),
    Buffer.byteLength(json),
  );
}

const LINE_ENDS = ["\u0085", "\u2028", "\u2029"] as const;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function count(text: string, character: string): number {
  let times = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) times += 1;
  return times;
}
