// Walks through a page of the list as it arrives: takes the entries one by one, and keeps what is beside them.

import { type JsonDocument, LIST } from "../../../json/json-document.ts";
import { MalformedJson, OversizeJson, type Span, tooWide } from "../../../json/json-scanner.ts";
import { ArrayShape, describeValue, isUuid, ObjectShape } from "../shape.ts";
import { ListEntries } from "./list-entries.ts";

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
   * Reads as many whole tokens and values as `json` has, and returns how many bytes those are: the next call continues
   * there. Throws `MalformedJson`, `OversizeJson` and `UnusableBody`.
   * @param isLast no more will arrive
   */
  walk(json: JsonDocument, isLast: boolean): number {
    let at = json.afterWhite(0);
    try {
      while (at < json.length) at = json.afterWhite(this.#step(json, at, isLast));
    } catch (error) {
      if (isLast || !(error instanceof MalformedJson && error.isCutOff)) throw error;
      if (json.length - at > MAX_PARSED_BYTES) throw this.#tooLong(json, at);
    }
    return at;
  }

  /** Throws `MalformedJson` for a page without its end. */
  end(): WalkedPage {
    if (this.#root === undefined) throw new MalformedJson("more text", 0, true);
    const { found, text, shape } = this.#root;
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
    const character = json.firstCharacter({ start: at });
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
    if (frame.count === LIST.maxChildren) throw tooWide(LIST);
    return this.#read(json, this.#valueAt(json, at), at, isLast);
  }

  #valueAt(json: JsonDocument, at: number): Value {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return { key: "", keyText: "", start: at, role: this.#goal };
    if (frame.options.isArray) {
      const key = String(frame.count);
      return { key, keyText: "", start: at, role: frame.roleOf(key, json.firstCharacter({ start: at })) };
    }
    const { key, span, start } = json.keyAt(at);
    if (start === json.length) throw new MalformedJson("a value", start, true);
    const role = frame.roleOf(key, json.firstCharacter({ start }));
    return { key, keyText: role === "entry" ? "" : json.decoded(span), start, role };
  }

  #read(json: JsonDocument, value: Value, from: number, isLast: boolean): number {
    const { key, keyText, start, role } = value;
    const first = json.firstCharacter({ start });
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
    if (end === json.length && !isLast) throw new MalformedJson("what follows a value", end, true);
    const span: Span = { start, end };
    const depth = this.#frames.length;
    if (role === "entry") {
      if (end - start > MAX_PARSED_BYTES) throw entryTooLong();
      const describe = (): string => describeValue(json, span, depth);
      this.#frames.at(-1)?.takeEntry(json.decoded(span), key, describe);
      this.#expects = "comma or end";
      return end;
    }
    this.#besideBytes += end - from;
    const text = this.#isMuchBeside ? undefined : json.decoded(span);
    this.#taken(value, { text, shape: describeValue(json, span, depth), found: undefined });
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
    const shape = describeValue(json, { start: value.start, end: json.length }, this.#frames.length);
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

export function muchBeside(): OversizeJson {
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
  readonly #object: ObjectShape;
  readonly #array: ArrayShape;
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
    this.#object = new ObjectShape(path.length);
    this.#array = new ArrayShape(path.length);
    if (this.#isList) this.#entries = new ListEntries(path, maxEntries);
  }

  /** Children so far. */
  get count(): number {
    return this.options.isArray ? this.#array.count : this.#object.count;
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
    this.#count(key, describe);
    this.#entries?.take(text, this.options.isArray ? undefined : key);
  }

  /** @param keyText the key as it came; its own text and that of the value are kept for validation and hints */
  takeValue(key: string, keyText: string, role: Role, { text, shape, found }: Read): void {
    this.#count(key, () => shape);
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
      ? { text: `[${text}]`, shape: this.#array.text(), found: this.#entries ?? this.#found }
      : { text: `{${text}}`, shape: this.#object.text(), found: this.#listInObject() };
  }

  #listInObject(): ListEntries | undefined {
    if (!this.#isList) return this.#found;
    if (this.#found === undefined) return this.#hasOtherKey ? undefined : this.#entries;
    // Both at once: it is ambiguous which of the two is the list.
    return this.#hasUuidKey ? undefined : this.#found;
  }

  #count(key: string, describe: () => string): void {
    if (this.options.isArray) this.#array.add(describe);
    else this.#object.add(key, describe);
  }
}

function isEvents({ isUsual }: Goal, key: string): boolean {
  return isUsual && key === "events";
}
