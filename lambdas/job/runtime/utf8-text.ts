// Text that a person has written: editors and shells save it in several encodings, and only UTF-8 is read.

/** What is wrong with bytes that are no text, and what to do: `FILE ${NOT_UTF8}`. */
export const NOT_UTF8 = "is not UTF-8 text. Save it as UTF-8.";

/**
 * Without a byte order mark, which some editors write. Undefined where the bytes are not UTF-8; also where they have a
 * NUL, because UTF-16 without a mark is valid UTF-8 with one beside each letter.
 */
export function utf8Text(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
