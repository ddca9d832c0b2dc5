// Reads the links of one Link header (RFC 8288 §3), each character once.
//
// A regular expression is unsuitable: with optional white space around optional parts it tries every split, which
// takes exponential time on a header of 200 characters.

export interface Link {
  /** The text between the angle brackets. */
  readonly target: string;
  /** By name in lower case; of several with one name the first (RFC 8288 §3.3 for `rel`). */
  readonly parameters: ReadonlyMap<string, string>;
}

export interface LinkHeader {
  readonly links: readonly Link[];
  /** The text after the last readable link; empty if all are readable. */
  readonly unread: string;
}

interface Read<T> {
  readonly value: T;
  /** The position after it. */
  readonly end: number;
}

/** `#( "<" URI-Reference ">" *( OWS ";" OWS [ link-param ] ) )`. */
export function readLinkHeader(header: string): LinkHeader {
  const links: Link[] = [];
  let at = after(header, 0, " \t,");
  while (at < header.length) {
    const link = readLink(header, at);
    if (link === undefined) break;
    const next = after(header, link.end, " \t");
    if (next < header.length && header[next] !== ",") break;
    links.push(link.value);
    at = after(header, next, " \t,");
  }
  return { links, unread: header.slice(at) };
}

function readLink(header: string, start: number): Read<Link> | undefined {
  const close = header[start] === "<" ? header.indexOf(">", start) : -1;
  if (close === -1) return undefined;
  const parameters = new Map<string, string>();
  let at = close + 1;
  for (;;) {
    const semicolon = after(header, at, " \t");
    if (header[semicolon] !== ";")
      return { value: { target: header.slice(start + 1, close), parameters }, end: at };
    const nameStart = after(header, semicolon + 1, " \t");
    const nameEnd = before(header, nameStart, ' \t=;,<>"');
    at = nameEnd;
    if (nameEnd === nameStart) continue; // `;` with nothing after it
    const name = header.slice(nameStart, nameEnd).toLowerCase();
    const value = readValue(header, nameEnd);
    if (value === undefined) return undefined;
    if (!parameters.has(name)) parameters.set(name, value.value);
    at = value.end;
  }
}

/** `[ BWS "=" BWS ( token / quoted-string ) ]`; servers put more into tokens than RFC 9110 §5.6.2 allows. */
function readValue(header: string, start: number): Read<string> | undefined {
  const equals = after(header, start, " \t");
  if (header[equals] !== "=") return { value: "", end: start };
  const valueStart = after(header, equals + 1, " \t");
  if (header[valueStart] === '"') return readQuoted(header, valueStart);
  const end = before(header, valueStart, ' \t;,"');
  return { value: header.slice(valueStart, end), end };
}

/** RFC 9110 §5.6.4: a backslash quotes the next character. */
function readQuoted(header: string, start: number): Read<string> | undefined {
  let value = "";
  for (let at = start + 1; at < header.length; at += 1) {
    if (header[at] === '"') return { value, end: at + 1 };
    if (header[at] === "\\") at += 1;
    value += header[at] ?? "";
  }
  return undefined;
}

/** The first position from `start` on whose character is none of these. */
function after(text: string, start: number, characters: string): number {
  let at = start;
  while (at < text.length && characters.includes(text.charAt(at))) at += 1;
  return at;
}

/** The first position from `start` on whose character is one of these. */
function before(text: string, start: number, characters: string): number {
  let at = start;
  while (at < text.length && !characters.includes(text.charAt(at))) at += 1;
  return at;
}
