// An object or array of a page that is open while the page is read: it leads to the list, or it is the list.

import { isUuid } from "../json-text.ts";
import { ArrayShape, ObjectShape } from "../shape.ts";
import { ListEntries } from "./list-entries.ts";

/** What is looked for in a value. */
export interface Goal {
  /** The way from the value to the list; none where the value itself is the list. */
  readonly tokens: readonly string[];
  /** Without a pointer: a top-level array, `data` as an array, `data` keyed by uuid, or `data.events` as an array. */
  readonly isUsual: boolean;
}

/** An entry of the list, a value on the way to it, or one of no interest. */
export type Role = "entry" | "beside" | Goal;

/** What is left of a value once it is read. */
export interface Read {
  /** Its JSON text without the entries of a list; undefined where there is too much of it. */
  readonly text: string | undefined;
  readonly shape: string;
  /** The list in it. */
  readonly found: ListEntries | undefined;
}

export interface FrameOptions {
  readonly isArray: boolean;
  readonly goal: Goal;
  readonly path: readonly string[];
  /** The key as it came, in quotes. */
  readonly keyText: string;
  readonly maxEntries: number;
}

/** Texts that are joined at once: each alone would cost more than its bytes. */
const JOINED_TEXTS = 1_000;

export class ListFrame {
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
