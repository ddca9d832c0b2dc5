// A disk that keeps no more than it was told to sync: what may lie on it if power goes at some point of a record. No
// order is assumed between what is not synced, as of a journal: a name may lack its content, and a content its name.

import { basename, dirname } from "node:path";
import { seededRandom } from "../simulator/seeded-random.ts";

/** A call that changes the file system, or syncs a part of it. */
export type FileCall =
  | { readonly name: "open"; readonly path: string; readonly handle: number; readonly mayCreate: boolean }
  | { readonly name: "write"; readonly handle: number; readonly base64: string }
  | { readonly name: "sync"; readonly handle: number }
  | { readonly name: "link" | "rename"; readonly from: string; readonly path: string }
  | { readonly name: "unlink" | "mkdir"; readonly path: string };

export type Recorded =
  | { readonly kind: "begin"; readonly id: number; readonly call: FileCall }
  | { readonly kind: "end"; readonly id: number; readonly failed: boolean }
  /** What the program says that it has reached. */
  | { readonly kind: "reached"; readonly what: string };

/** Path and content of each file. */
export type Files = ReadonlyMap<string, Uint8Array>;

/** What may be on the disk, under a name that is the same for the same content. */
export interface State {
  readonly name: string;
  readonly files: Files;
}

/** Of up to so many unsynced changes every subset is a state; of more, some are drawn. */
const MOST_CHANGES = 6;
const DRAWN = 6;

/** No reader looks there: what is in it has no name yet, or was given another one. */
const UNSEEN = ".tmp";

/** A file or a folder, with all that was ever done to it. */
interface Node {
  readonly number: number;
  readonly isFolder: boolean;
  /** The file had a name that is read. */
  isSeen: boolean;
  readonly changes: Change[];
}

interface Change {
  readonly to: Node;
  /** To a folder: the node that has the name from now on, if any. */
  readonly entry?: { readonly name: string; readonly node: Node | undefined };
  /** To a file: what is added to it. */
  readonly bytes?: Uint8Array;
  /** The place in the record at which its call ended. */
  endedAt: number;
  isSynced: boolean;
}

interface CallUnderWay {
  readonly call: FileCall;
  readonly beganAt: number;
  /** Undefined until it could be done. */
  changes: readonly Change[] | undefined;
}

export class Disk {
  readonly #root: string;
  readonly #record: readonly Recorded[];
  readonly #failed: ReadonlySet<number>;
  readonly #handles = new Map<number, Node>();
  readonly #underWay = new Map<number, CallUnderWay>();
  readonly #top: Node;
  #unsynced: readonly Change[] = [];
  #nodes = 0;
  #at = 0;

  /** @param root the folder that the record is about: empty at first, and its own name is on disk */
  constructor(root: string, record: readonly Recorded[]) {
    this.#root = root;
    this.#record = record;
    this.#failed = new Set(record.flatMap((line) => (line.kind === "end" && line.failed ? [line.id] : [])));
    this.#top = this.#newNode(true, true);
  }

  /** Replays the next line of the record; undefined at its end. */
  next(): Recorded | undefined {
    const line = this.#record[this.#at];
    this.#at += 1;
    if (line?.kind === "begin" && !this.#failed.has(line.id)) {
      // A change may be on disk as soon as it has begun, unless it needs what another call is still making.
      const { call } = line;
      this.#underWay.set(line.id, { call, beganAt: this.#at, changes: this.#do(call) });
    }
    if (line?.kind === "end") this.#end(line.id);
    return line;
  }

  /** What a program sees now. */
  live(): Files {
    return this.#filesWith(() => true).files;
  }

  /** What may be on the disk if power goes now. */
  *states(): Generator<State> {
    const open = this.#unsynced.filter(({ to }) => to.isSeen);
    for (const chosen of subsets(open, this.#at))
      yield this.#filesWith((change) => change.isSynced || chosen.has(change));
  }

  #end(id: number): void {
    const ended = this.#underWay.get(id);
    if (ended === undefined) return;
    this.#underWay.delete(id);
    const { call, beganAt } = ended;
    const changes = ended.changes ?? this.#do(call);
    if (changes === undefined) throw new Error(`line ${this.#at} of the record cannot be replayed`);
    for (const change of changes) change.endedAt = this.#at;
    if (call.name !== "sync") return;
    const synced = this.#handles.get(call.handle);
    for (const change of this.#unsynced) {
      // A sync is about what had ended before it.
      if (change.to === synced && change.endedAt < beganAt) change.isSynced = true;
    }
    this.#unsynced = this.#unsynced.filter(({ isSynced }) => !isSynced);
  }

  /** Undefined where a folder or a file is missing that it needs. */
  #do(call: FileCall): readonly Change[] | undefined {
    switch (call.name) {
      case "sync":
        return [];
      case "write": {
        const to = this.#handles.get(call.handle);
        return to && [this.#change({ to, bytes: Buffer.from(call.base64, "base64") })];
      }
      case "open": {
        const found = this.#find(call.path);
        const made = found
          ? []
          : call.mayCreate
            ? this.#name(call.path, this.#newNode(false, false))
            : undefined;
        const opened = found ?? made?.[0]?.entry?.node;
        if (opened) this.#handles.set(call.handle, opened);
        return made;
      }
      case "mkdir":
        return this.#name(call.path, this.#newNode(true, basename(call.path) !== UNSEEN));
      case "unlink":
        return this.#find(call.path) ? this.#name(call.path, undefined) : [];
      case "link":
      case "rename": {
        const from = this.#find(call.from);
        const named = from && this.#name(call.path, from);
        const freed = call.name === "rename" && named ? this.#name(call.from, undefined) : [];
        return named && freed && [...named, ...freed];
      }
    }
  }

  #name(path: string, node: Node | undefined): readonly Change[] | undefined {
    const to = this.#find(dirname(path));
    if (to === undefined) return undefined;
    if (node && to.isSeen && !node.isFolder) node.isSeen = true;
    return [this.#change({ to, entry: { name: basename(path), node } })];
  }

  #change(made: Pick<Change, "to" | "entry" | "bytes">): Change {
    const change: Change = { ...made, endedAt: Number.POSITIVE_INFINITY, isSynced: false };
    made.to.changes.push(change);
    this.#unsynced = [...this.#unsynced, change];
    return change;
  }

  #newNode(isFolder: boolean, isSeen: boolean): Node {
    this.#nodes += 1;
    return { number: this.#nodes, isFolder, isSeen, changes: [] };
  }

  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#top;
    for (const name of path.slice(this.#root.length).split("/").filter(Boolean))
      node = node && entriesOf(node, () => true).get(name);
    return node;
  }

  #filesWith(isThere: (change: Change) => boolean): State {
    const files = new Map<string, Uint8Array>();
    const names: string[] = [];
    const walk = (folder: Node, path: string): void => {
      for (const [name, node] of entriesOf(folder, isThere)) {
        if (node.isFolder && node.isSeen) walk(node, `${path}${name}/`);
        if (node.isFolder) continue;
        const written = node.changes.map((change) => ({ ...change, isThere: isThere(change) }));
        files.set(`${path}${name}`, contentOf(written));
        names.push(`${path}${name}=${node.number}:${written.map((each) => (each.isThere ? 1 : 0)).join("")}`);
      }
    };
    walk(this.#top, "");
    return { name: names.sort().join("\n"), files };
  }
}

function entriesOf(folder: Node, isThere: (change: Change) => boolean): ReadonlyMap<string, Node> {
  const entries = new Map<string, Node>();
  for (const change of folder.changes) {
    if (change.entry === undefined || !isThere(change)) continue;
    const { name, node } = change.entry;
    if (node) entries.set(name, node);
    else entries.delete(name);
  }
  return entries;
}

/** Where a piece is missing before one that is there, the file has zeros. */
function contentOf(
  written: readonly { readonly bytes?: Uint8Array; readonly isThere: boolean }[],
): Uint8Array {
  const upTo = written.findLastIndex(({ isThere }) => isThere) + 1;
  return Buffer.concat(
    written
      .slice(0, upTo)
      .map(({ bytes = NO_BYTES, isThere }) => (isThere ? bytes : new Uint8Array(bytes.length))),
  );
}

const NO_BYTES = new Uint8Array();

function* subsets(changes: readonly Change[], seed: number): Generator<ReadonlySet<Change>> {
  const { length } = changes;
  const of = (isChosen: (index: number) => boolean): ReadonlySet<Change> =>
    new Set(changes.filter((_, index) => isChosen(index)));
  if (length <= MOST_CHANGES) {
    for (let mask = 0; mask < 1 << length; mask += 1) yield of((index) => (mask & (1 << index)) !== 0);
    return;
  }
  yield of(() => false);
  yield of(() => true);
  const random = seededRandom(seed);
  for (let draw = 0; draw < DRAWN; draw += 1) yield of(() => random() < 0.5);
}
