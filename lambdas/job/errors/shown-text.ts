// Texts that others have written: as they are read, and as messages show them.

/** A text in quotes, without the user name and password of a URL. */
export function shownText(text: string): string {
  return JSON.stringify(withoutUserinfo(text));
}

/** Drops from each word the text between `//` and the last `@` (RFC 3986 §3.2.1). */
export function withoutUserinfo(text: string): string {
  return text
    .split(" ")
    .map((word) => {
      const [from, to] = [word.indexOf("//"), word.lastIndexOf("@")];
      return from !== -1 && from < to ? `${word.slice(0, from)}//…${word.slice(to)}` : word;
    })
    .join(" ");
}

/** Of each web address only scheme and host: who has the path of a webhook may post there. */
export function onlyHosts(text: string): string {
  return withoutUserinfo(text).replaceAll(
    /(https?:\/\/[^\s/'"?#]+)([^\s'"]*)/gi,
    (_, host: string, rest: string) => (rest === "" || rest === "/" ? host : `${host}/…`),
  );
}

/** For a POSIX shell: inside single quotes only the quote itself has a meaning. */
export function shellWord(text: string): string {
  return /^[\w/=.:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Of an error that is not foreseen only the kind and the place: its message may quote data. */
export function shownDefect(error: unknown): {
  readonly message: string;
  readonly frames: readonly string[];
} {
  const [kind, stack = ""] = error instanceof Error ? [error.name, error.stack] : [typeof error];
  return {
    message: `Unexpected error (${kind}). This is a defect: please report it.`,
    frames: stack.split("\n").filter((line) => line.startsWith("    at ")),
  };
}

/** A key may be data too (an e-mail address, a name): only what looks like a field's name is repeated. */
export function redactKey(key: string): string {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(key)) return "<uuid>";
  return /^[A-Za-z_$][\w$-]{0,39}$/.test(key) ? key : "<key>";
}

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
