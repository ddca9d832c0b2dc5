// Walks through a page of the list as it arrives: takes the entries one by one, and keeps what is beside them.

import { SyncError } from "../../../errors/sync-error.ts";
import {
  compact,
  type JsonDocument,
  MalformedJson,
  OversizeJson,
  type Span,
} from "../../../json/json-scanner.ts";
import { describeValue, isObject, parseBody, Shape } from "../shape.ts";
import { EventTexts, MAX_ENTRIES } from "./event-texts.ts";

/** For one entry, and for all that is not the list: parsing may take many times the memory of the text. */
const MAX_PARSED_BYTES = 4 * 1_048_576;

/** A page that is read to its end. */
interface WalkedPage {
  /** Undefined if nothing in the page is a list of events. */
  readonly list: ListEntries | undefined;
  /** The page with its list emptied; undefined if it has more than 4 MiB. */
  readonly envelope: string | undefined;
  readonly shape: string;
}

/** A value whose first character has come. */
interface Value {
  readonly key: string;
  readonly keyText: string;
  readonly start: number;
  readonly role: Role;
}

export class ListWalker {
  readonly #goal: Goal;
  readonly #maxEntries: number;
  /** Open arrays and objects, innermost last. */
  readonly #frames: ListFrame[] = [];
  #expects: "value" | "value or end" | "comma or end" = "value";
  #root: Read | undefined;
  #besideBytes = 0;

  constructor(pointer: readonly string[] | undefined, maxEntries: number) {
    this.#goal =
      pointer === undefined ? { tokens: ["data"], isUsual: true } : { tokens: pointer, isUsual: false };
    this.#maxEntries = maxEntries;
  }

  /**
   * Reads as many whole tokens and values as `json` has, and returns where those end: the next call continues there.
   * Throws `MalformedJson`, `OversizeJson` and `UnusableBody`.
   * @param isLast no more will arrive
   */
  walk(json: JsonDocument, from: number, isLast: boolean): number {
    let at = json.afterWhite(from);
    try {
      while (at < json.bytes.length) at = json.afterWhite(this.#step(json, at, isLast));
    } catch (error) {
      if (isLast || !(error instanceof MalformedJson && error.isCutOff)) throw error;
      if (json.bytes.length - at > MAX_PARSED_BYTES) throw this.#tooLong(json, at);
    }
    return at;
  }

  /** Throws `MalformedJson` for a page without its end, and `OversizeJson` for a list with more than 4 MiB beside it. */
  end(): WalkedPage {
    if (this.#root === undefined) throw new MalformedJson("more text", 0, true);
    const { found, text, shape } = this.#root;
    if (found && this.#isMuchBeside) throw muchBeside();
    return { list: found, envelope: this.#isMuchBeside ? undefined : text, shape };
  }

  get #isMuchBeside(): boolean {
    return this.#besideBytes > MAX_PARSED_BYTES;
  }

  /** Reads one comma, bracket, entry or value. What is cut off changes nothing. */
  #step(json: JsonDocument, at: number, isLast: boolean): number {
    const frame = this.#frames.at(-1);
    if (frame === undefined) {
      if (this.#root !== undefined) throw new MalformedJson("the end of the text", at);
      return this.#read(json, this.#valueAt(json, at), at, isLast);
    }
    const character = json.characterAt(at);
    if (character === (frame.options.isArray ? "]" : "}") && this.#expects !== "value") {
      this.#frames.pop();
      const { goal, path, keyText } = frame.options;
      this.#taken({ key: path.at(-1) ?? "", keyText, role: goal }, frame.close());
      return at + 1;
    }
    if (this.#expects === "comma or end") {
      if (character !== ",") throw new MalformedJson('"," or a closing bracket', at);
      this.#expects = "value";
      return at + 1;
    }
    json.checkWidth(frame.shape.count + 1);
    return this.#read(json, this.#valueAt(json, at), at, isLast);
  }

  #valueAt(json: JsonDocument, at: number): Value {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return { key: "", keyText: "", start: at, role: this.#goal };
    if (frame.options.isArray) {
      const key = String(frame.shape.count);
      return { key, keyText: "", start: at, role: frame.roleOf(key, json.characterAt(at)) };
    }
    const { key, span, start } = json.keyAt(at);
    if (start === json.bytes.length) throw new MalformedJson("a value", start, true);
    const role = frame.roleOf(key, json.characterAt(start));
    return { key, keyText: role === "entry" ? "" : json.decoded(span), start, role };
  }

  #read(json: JsonDocument, value: Value, from: number, isLast: boolean): number {
    const { key, keyText, start, role } = value;
    const first = json.characterAt(start);
    if (typeof role === "object" && (first === "[" || first === "{")) {
      const above = this.#frames.at(-1)?.options.path;
      const path = above === undefined ? [] : [...above, key];
      const isArray = first === "[";
      this.#frames.push(new ListFrame({ isArray, goal: role, path, keyText, maxEntries: this.#maxEntries }));
      this.#expects = "value or end";
      return start + 1;
    }
    const end = json.afterValue(start);
    // What follows may belong to it: 12 may become 123.
    if (end === json.bytes.length && !isLast) throw new MalformedJson("what follows a value", end, true);
    const span: Span = { start, end };
    const depth = this.#frames.length;
    if (role === "entry") {
      if (end - start > MAX_PARSED_BYTES) throw entryTooLong();
      const describe = (): string => describeValue(json, start, depth);
      this.#frames.at(-1)?.takeEntry(json.decoded(span), key, describe);
      this.#expects = "comma or end";
      return end;
    }
    this.#besideBytes += end - from;
    const text = this.#isMuchBeside ? undefined : json.decoded(span);
    this.#taken(value, { text, shape: describeValue(json, start, depth), found: undefined });
    return end;
  }

  #taken({ key, keyText, role }: Omit<Value, "start">, read: Read): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) this.#root = read;
    else frame.takeValue(key, keyText, role, read);
    this.#expects = "comma or end";
  }

  /** What is at `at` has no end within 4 MiB. */
  #tooLong(json: JsonDocument, at: number): OversizeJson {
    const value = this.#valueAt(json, at);
    if (value.role === "entry") return entryTooLong();
    if (this.#frames.some(({ hasList }) => hasList)) return muchBeside();
    const shape = describeValue(json, value.start, this.#frames.length);
    this.#taken(value, { text: undefined, shape, found: undefined });
    for (let frame = this.#frames.pop(); frame; frame = this.#frames.pop()) {
      const { goal, path, keyText } = frame.options;
      this.#taken({ key: path.at(-1) ?? "", keyText, role: goal }, frame.close());
    }
    return new OversizeJson(
      `has more than 4 MiB before any list of events (its shape so far is ${this.#root?.shape})`,
    );
  }
}

function muchBeside(): OversizeJson {
  return new OversizeJson("has more than 4 MiB beside its entries");
}

function entryTooLong(): OversizeJson {
  return new OversizeJson("has an entry of more than 4 MiB");
}

/** What is looked for in a value. */
interface Goal {
  /** The way from the value to the list; none where the value itself is the list. */
  readonly tokens: readonly string[];
  /** Without a pointer: a top-level array, `data` as an array, `data` keyed by uuid, or `data.events` as an array. */
  readonly isUsual: boolean;
}

/** An entry of the list, a value on the way to it, or one of no interest. */
type Role = "entry" | "beside" | Goal;

/** What is left of a value once it is read. */
interface Read {
  /** Its JSON text without the entries of a list; undefined where there is too much of it. */
  readonly text: string | undefined;
  readonly shape: string;
  /** The list in it. */
  readonly found: ListEntries | undefined;
}

interface FrameOptions {
  readonly isArray: boolean;
  readonly goal: Goal;
  readonly path: readonly string[];
  /** The key as it came, in quotes. */
  readonly keyText: string;
  readonly maxEntries: number;
}

/** Texts that are joined at once: each alone would cost more than its bytes. */
const JOINED_TEXTS = 1_000;

class ListFrame {
  readonly options: FrameOptions;
  readonly #isList: boolean;
  readonly shape: Shape;
  readonly #joined: string[] = [];
  #texts: string[] = [];
  #entries: ListEntries | undefined;
  #found: ListEntries | undefined;
  #hasUuidKey = false;
  #hasOtherKey = false;

  constructor(options: FrameOptions) {
    this.options = options;
    const { isArray, goal, path, maxEntries } = options;
    this.#isList = goal.tokens.length === 0 || (isArray && goal.isUsual);
    this.shape = new Shape(isArray, path.length);
    if (this.#isList) this.#entries = new ListEntries(path, maxEntries);
  }

  /** A list has begun here, or was found. */
  get hasList(): boolean {
    return this.#found !== undefined || this.#entries !== undefined;
  }

  /** @param first what the child's text begins with */
  roleOf(key: string, first: string): Role {
    const { isArray, goal } = this.options;
    const [token, ...tokens] = goal.tokens;
    if (!this.#isList) return key === token ? { ...goal, tokens } : "beside";
    if (isArray) return "entry";
    if (isUuid(key)) {
      this.#hasUuidKey = true;
      return this.#entries ? "entry" : "beside";
    }
    // A list that is keyed by uuid has no other keys.
    this.#hasOtherKey = true;
    this.#entries = undefined;
    return isEvents(goal, key) && first === "[" ? { ...goal, tokens: [] } : "beside";
  }

  takeEntry(text: string, key: string, describe: () => string): void {
    this.shape.add(key, describe);
    this.#entries?.take(text, this.options.isArray ? undefined : key);
  }

  /** @param keyText the key as it came; its own text and that of the value are kept for validation and hints */
  takeValue(key: string, keyText: string, role: Role, { text, shape, found }: Read): void {
    this.shape.add(key, () => shape);
    // Of duplicate keys the last one counts.
    if (role !== "beside" || (this.#isList && isEvents(this.options.goal, key))) this.#found = found;
    if (text === undefined) return;
    this.#texts.push(this.options.isArray ? text : `${keyText}:${text}`);
    if (this.#texts.length < JOINED_TEXTS) return;
    this.#joined.push(this.#texts.join(","));
    this.#texts = [];
  }

  close(): Read {
    const text = [...this.#joined, ...this.#texts].join(",");
    return this.options.isArray
      ? { text: `[${text}]`, shape: this.shape.text(), found: this.#entries ?? this.#found }
      : { text: `{${text}}`, shape: this.shape.text(), found: this.#listInObject() };
  }

  #listInObject(): ListEntries | undefined {
    if (!this.#isList) return this.#found;
    if (this.#found === undefined) return this.#hasOtherKey ? undefined : this.#entries;
    // Both at once: it is ambiguous which of the two is the list.
    return this.#hasUuidKey ? undefined : this.#found;
  }
}

function isEvents({ isUsual }: Goal, key: string): boolean {
  return isUsual && key === "events";
}

/** The entries of one list on a page: events, and a count of those without a valid uuid. */
class ListEntries {
  /** Where in the page the list is. */
  readonly path: readonly string[];
  /** In the page's order. */
  readonly events = new EventTexts();
  /** How many entries have no valid uuid. */
  rejected = 0;
  /** Why these entries cannot be used. It counts only if they turn out to be the list: a later one may replace them. */
  problem: SyncError | undefined;
  readonly #maxEntries: number;

  constructor(path: readonly string[], maxEntries: number) {
    this.path = path;
    this.#maxEntries = maxEntries;
  }

  /** Throws `UnusableBody` for text that is not JSON, `OversizeJson` for one entry too many. */
  take(text: string, key: string | undefined): void {
    if (this.events.length + this.rejected === this.#maxEntries) {
      throw new OversizeJson(`has more than ${MAX_ENTRIES.toLocaleString("en")} entries`);
    }
    const entry = parseBody(text);
    const own = isObject(entry) ? (entry["uuid"] ?? undefined) : undefined;
    if (key !== undefined && own !== undefined && !isSame(own, key)) this.problem ??= contradiction();
    const requestAs = isObject(entry) ? (own ?? key) : undefined;
    if (isUuid(requestAs)) {
      const listing = compact(text, { start: 0, end: text.length });
      this.events.add({ uuid: requestAs.toLowerCase(), requestAs, listing });
    } else this.rejected += 1;
  }
}

function isSame(own: unknown, key: string): boolean {
  return typeof own === "string" && own.toLowerCase() === key.toLowerCase();
}

function contradiction(): SyncError {
  return new SyncError(
    "UNEXPECTED_RESPONSE",
    "The list is keyed by uuid, but an entry's own uuid differs from its key, so it is not clear which event it is. Ask " +
      "the service's operator, or set --list-pointer to the place of the list.",
  );
}

/** 8-4-4-4-12 hexadecimal digits, any case, any version (docs/service-interface.md §2.1). */
export function isUuid(value: unknown): value is string {
  return typeof value === "string" && /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value);
}
