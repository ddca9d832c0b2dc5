// The words of names that say how a list goes on, and what the values of such members and headers may mean. One word that
// the table lacks makes a whole name doubtful, so the table is short on purpose: what it does not know decides nothing, and
// is asked about (docs/connect.md shows it).

export const WORDS = {
  /** What a list has. */
  entry: "item result record element row entry event hit",
  all: "total",
  /** All of them, beside a word for entries or for a number. */
  whole: "full overall matched available found",
  count: "count number num",
  page: "page",
  /** What follows this page. */
  next: "next continuation",
  /** What asks for it. Alone it may be an echo of the request. */
  cursor: "cursor after marker bookmark continue offset skip token key",
  address: "link url uri href path start",
  /** Whether more follows. */
  more: "more truncated incomplete partial",
  left: "remaining",
  end: "last end final done",
  /** How many entries a page may have. */
  limit: "limit max per",
  size: "size",
  /** Objects that say nothing of what is in them. */
  box: "meta metadata data info paging pagination value response list odata",
  filler: "has is of",
} as const;

type Meaning = keyof typeof WORDS;

/** With their plurals. */
const MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries(WORDS).flatMap(([meaning, words]) =>
    words.split(" ").flatMap((word): [string, string][] => [
      [word, meaning],
      [word.replace(/y?$/, (end) => (end === "y" ? "ies" : "s")), meaning],
    ]),
  ),
);

/** Of the words above, in the plural. */
const MAX_WORD = 13;
/** Names that are longer have no meaning. */
const MAX_NAME = 80;

/** A name, and what its words mean. */
export class Name {
  readonly text: string;
  /** Every word is in the table. */
  readonly isKnown: boolean;
  /** The name says `pages`, not `page`. */
  readonly isPages: boolean;
  readonly #words: readonly string[];
  readonly #meanings: ReadonlySet<string | undefined>;

  constructor(text: string) {
    this.text = text;
    this.#words = wordsOf(text);
    this.#meanings = new Set(this.#words.map(meaningOf));
    this.isKnown = this.#words.length > 0 && !this.#meanings.has(undefined);
    this.isPages = this.#words.includes("pages");
  }

  has(...meanings: readonly Meaning[]): boolean {
    return meanings.some((each) => this.#meanings.has(each));
  }

  /** A word that is in the table means something else. */
  hasOther(...meanings: readonly Meaning[]): boolean {
    return this.#meanings.difference(new Set([undefined, ...meanings])).size > 0;
  }

  hasOnly(...meanings: readonly Meaning[]): boolean {
    return this.isKnown && !this.hasOther(...meanings);
  }

  hasWord(word: string): boolean {
    return this.#words.includes(word);
  }

  /** Of the pages that follow, and not of the next event itself. */
  get isOfPages(): boolean {
    return !this.has("entry") || this.has("cursor", "address", "page");
  }

  /** A limit of something else than pages: of requests, of the account. */
  get isOtherLimit(): boolean {
    return !this.isKnown && this.text.toLowerCase().includes("limit");
  }
}

/**
 * Without its namespace (`hydra:`, `@odata.`, and before a dot what says nothing), and without one letter before the rest
 * (`x-`); split at case, digits and signs.
 */
function wordsOf(text: string): readonly string[] {
  if (text.length > MAX_NAME) return [text];
  const name = text.replace(/^(?:.*:|[@$].*\.)/s, "");
  const dot = name.lastIndexOf(".");
  if (dot !== -1 && new Name(name.slice(0, dot)).hasOnly("box")) return wordsOf(name.slice(dot + 1));
  // Digits are words that the table lacks, and so is all that is not written in its letters.
  if (/[^\x20-\x7e]/.test(name)) return [name];
  const runs = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? [];
  const words = runs[0]?.length === 1 ? runs.slice(1) : runs;
  return words.flatMap((word) => partsOf(word.toLowerCase()));
}

/** `totalcount` is two words: headers and some members have no case. A word that is not made of known ones stays as it is. */
function partsOf(word: string): readonly string[] {
  if (meaningOf(word) !== undefined) return [word];
  /** The words up to each letter. */
  const found: (readonly string[] | undefined)[] = [[]];
  for (let end = 1; end <= word.length; end += 1)
    for (let start = Math.max(0, end - MAX_WORD); start < end; start += 1) {
      const part = word.slice(start, end);
      const before = found[start];
      if (before && meaningOf(part) !== undefined) found[end] = [...before, part];
    }
  return found[word.length] ?? [word];
}

function meaningOf(word: string): string | undefined {
  return MEANINGS.get(word);
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function isBoolean(value: unknown): boolean {
  return /^(?:true|false)$/i.test(String(value));
}

/** Whether it is so, also as a text and as a number. */
export function flagOf(value: unknown): boolean | undefined {
  if (isBoolean(value)) return /^true$/i.test(String(value));
  const number = countOf(value);
  return number === undefined ? undefined : number > 0;
}

/** A count, also as a text. By -1 services say that they do not know. */
export function countOf(value: unknown): number | undefined {
  const number = /^\d{1,15}$/.test(String(value)) ? Number(value) : value;
  return Number.isSafeInteger(number) && Number(number) >= 0 ? Number(number) : undefined;
}

/** Of what names the next page: whole numbers below 1, also as texts, name none. */
export function isNothing(value: unknown): boolean {
  return /^(?:false|null|-\d+|0*)$/i.test(String(value));
}

/**
 * What is sent for the next page, by a person's word for where it stands; undefined for the empty values of JSON, and behind
 * others for 0 and -1 too: what follows does not lie before the beginning. On a first page they may be an echo.
 */
export function nextValue(text: string | null | undefined, isBehindOthers: boolean): string | undefined {
  const isEmpty = /^(?:null|false|\[\]|\{\})?$/i.test(text ?? "");
  const isEnd = isBehindOthers && (text === "0" || text === "-1");
  return isEmpty || isEnd ? undefined : (text ?? undefined);
}

/** A date or a time of day, or seconds or milliseconds since 1970. */
export function isInstant(value: unknown): boolean {
  const number = countOf(value);
  if (number !== undefined) return (number >= 1e9 && number < 2e10) || (number >= 1e12 && number < 2e13);
  return /(?<!\d)(?:\d{1,4}([-/.])\d{1,2}\1\d{1,4}|\d{1,2}:\d{2})(?!\d)/.test(String(value));
}

/** Without `x-`, and without a maker's mark behind it (`x-wp-`, `x-ms-`): two letters that are no word. */
export function headerWords(name: string): string {
  return name.replace(/^x-(?:[b-df-hj-np-tv-xz]{2}-)?/, "");
}

/** What the parameter is probably called that takes the value of this member: `next_page_token` is `page_token`. */
export function parameterFor(text: string): string {
  const rest = text.replace(/^.*:|^[@$].*\./s, "").replace(/^next[_\-.]?(?=.)/i, "");
  if (/^next$/i.test(rest)) return "cursor";
  return /^token$/i.test(rest) ? text : rest.charAt(0).toLowerCase() + rest.slice(1);
}
