// The protocol of docs/architecture.md as four programs: a run, `accept`, `rollback` and `remove`. Staging, rows and parts are
// one file each; everything that decides what readers see is here step by step.

import { type CatalogKind, moveTo, refreshCatalog } from "./catalog.ts";
import type { Defect } from "./defects.ts";
import { confirmLease, freeLease, takeLease } from "./lease.ts";
import {
  create,
  deleteFiles,
  listFiles,
  look,
  type Memory,
  type Program,
  perform,
  readEnd,
  readLogSince,
} from "./step.ts";
import {
  type Content,
  type Entry,
  type Head,
  type LogEnd,
  type Outcome,
  publicationsOf,
  removalOf,
} from "./world.ts";

export type Ending = Outcome | "SKIPPED" | "REPEATED" | "NOT_FOUND" | "REMOVED" | "CORRUPT" | "MADE";

/** A process, started for the n-th time, with an empty memory. */
export interface Start {
  readonly process: string;
  readonly start: number;
  readonly memory: Memory;
}

export interface Rules {
  readonly catalog: CatalogKind;
  readonly has: (defect: Defect) => boolean;
}

type Decision = { readonly end: Outcome } | undefined;
type Decide = (head: Head | undefined) => Program<Decision>;

export function* runProgram(run: number, { process, start, memory }: Start, rules: Rules): Program<Ending> {
  const { has } = rules;
  const token = `${process}.${start}`;
  if ((yield* readOutcome(run)) !== undefined) return "REPEATED";
  if (!(yield* takeLease(token, memory, has))) return "SKIPPED";
  const isFinished =
    !has("finished run not asked under the lease") && (yield* readOutcome(run)) !== undefined;
  memory.keep("holds the lease", true);
  const ending = isFinished ? "REPEATED" : yield* underLease(run, token, memory, rules);
  memory.keep("ending", ending);
  yield* freeLease(token, has);
  return ending;
}

function* underLease(run: number, token: string, memory: Memory, rules: Rules): Program<Ending> {
  const { has } = rules;
  let first = memory.keep("first end", yield* readEnd(has));
  yield* refreshCatalog("at the start", rules.catalog, memory, has);
  const published = has("published run not asked") ? undefined : yield* publishedRun(run, has);
  if (published) return yield* record(run, memory.keep("records", published), token);
  // The head was read before: a later one could be this run's own, published meanwhile.
  if (has("head read after the published run is sought"))
    first = memory.keep("first end", yield* readEnd(has));
  const later = first.head ?? (has("run named before a removal") ? undefined : first.removal);
  if (later && later.snapshot >= run) return yield* record(run, memory.keep("records", "SUPERSEDED"), token);
  const staged = memory.keep("content", yield* collect(run, token, has));
  if (staged === undefined) return yield* record(run, memory.keep("records", "FAILED"), token);
  if (staged === "lease lost") return "SKIPPED";
  const content = has("parts overwritten") ? { run, by: token } : staged;
  if (!(yield* createSnapshot(run, content, has))) return "CORRUPT";
  memory.forget("content");
  if (has("outcome before commit")) yield* record(run, "PUBLISHED", token);
  const decide = (head: Head | undefined): Program<Decision> => decideRun(run, first, head, has);
  const action = { snapshot: run, action: "run", by: `run ${run}`, pinned: false } as const;
  const end = memory.keep("records", yield* commit(action, first, token, memory, rules, decide));
  if (end === "CORRUPT") return end;
  // The run no longer has the lease, which the removal has taken.
  if (end === "REMOVED") return "SKIPPED";
  if (end === "HELD") yield* create("held", run, true);
  if (end === "PUBLISHED") yield* refreshCatalog("after the commit", rules.catalog, memory, has);
  return yield* record(run, end, token);
}

/** A run whose snapshot a publication names is finished, whatever has happened since. */
function* publishedRun(run: number, has: Rules["has"]): Program<Outcome | undefined> {
  if ((yield* look(`looks for the snapshot ${run}`, ({ snapshots }) => snapshots[run])) === undefined)
    return undefined;
  const all = (yield* readLogSince(0, has)).publications.filter(({ snapshot }) => snapshot === run);
  if (all.length === 0) return undefined;
  return all.some(({ action }) => action === "run") ? "PUBLISHED" : "HELD";
}

/** Staged work that is there is used as it is. Undefined where the login is refused. */
function* collect(
  run: number,
  token: string,
  has: Rules["has"],
): Program<Content | "lease lost" | undefined> {
  const fetched: Content = { run, by: token };
  const isBlind = has("staged work overwritten");
  const found = yield* look(`looks for staged work of ${run}`, ({ staged }) => staged[run]);
  if (found && !isBlind) return found;
  const isRefused = yield* perform({
    name: `logs in for ${run} and fetches its events`,
    apply: (world) => ({ world, result: world.refused.includes(run) }),
    requestsFor: run,
  });
  if (isRefused) return undefined;
  if (!(yield* confirmLease(token))) return "lease lost";
  if (yield* create("staged", run, fetched, isBlind)) return fetched;
  return (yield* look(`reads staged work of ${run}`, ({ staged }) => staged[run])) ?? fetched;
}

/** False where a snapshot of this run is there and is not what this process would write. */
function* createSnapshot(run: number, content: Content, has: Rules["has"]): Program<boolean> {
  if (yield* create("snapshots", run, content, has("parts overwritten"))) return true;
  const standing = yield* look(`verifies the snapshot ${run}`, ({ snapshots }) => snapshots[run]);
  // What a removal has deleted meanwhile is missed at the commit.
  return standing === undefined || standing.by === content.by;
}

function* decideRun(
  run: number,
  first: LogEnd,
  head: Head | undefined,
  has: Rules["has"],
): Program<Decision> {
  const finished = yield* readOutcome(run);
  if (!has("own publication not asked at the commit")) {
    const { publications } = yield* readLogSince(first.last, has);
    if (publications.some(({ action, snapshot }) => action === "run" && snapshot === run))
      return { end: "PUBLISHED" };
  }
  if (finished === "FAILED") return { end: finished };
  if (head && head.snapshot >= run && !has("later head not asked")) return { end: "SUPERSEDED" };
  const isMarked = yield* look(`reads the mark of ${run}`, ({ held }) => held[run] === true);
  if (isMarked && !has("mark of a held snapshot not read")) return { end: "HELD" };
  const isSmall = yield* look(`counts ${run}`, ({ sizes }) =>
    isDropped(sizes[run], head && sizes[head.snapshot]),
  );
  if (isSmall || (head?.pinned && !has("pin not asked"))) return { end: "HELD" };
  return undefined;
}

/** More than 20 % fewer events than the head. */
function isDropped(events = 0, headEvents: number | undefined = undefined): boolean {
  return headEvents !== undefined && events * 100 < headEvents * 80;
}

export function* reviewProgram(
  action: "accept" | "rollback",
  snapshot: number,
  { process, start, memory }: Start,
  rules: Rules,
): Program<Ending> {
  const { has } = rules;
  const by = `${action} ${process}.${start}`;
  const first = memory.keep("first end", yield* readEnd(has));
  yield* refreshCatalog("at the start", rules.catalog, memory, has);
  if (!(yield* isPublishable(snapshot, has))) return "NOT_FOUND";
  const mayBeOlder = action === "rollback" || has("accept takes an older snapshot");
  const decide: Decide = (head) =>
    look("decides by the head", () =>
      head && head.snapshot > snapshot && !mayBeOlder ? { end: "SUPERSEDED" } : undefined,
    );
  const pinned = action === "rollback" && !has("rollback does not pin");
  const token = `${process}.${start}`;
  const end = yield* commit({ snapshot, action, by, pinned }, first, token, memory, rules, decide);
  if (end === "PUBLISHED") yield* refreshCatalog("after the commit", rules.catalog, memory, has);
  return end;
}

/** Complete, and published or held. What is named before the removal is being deleted. */
function isPublishable(snapshot: number, has: Rules["has"]): Program<boolean> {
  return look(`looks whether ${snapshot} can be published`, (world) => {
    if (world.snapshots[snapshot] === undefined) return false;
    if (publicationsOf(world).some((each) => each.snapshot === snapshot)) return true;
    const isRemoved = snapshot <= (removalOf(world)?.snapshot ?? 0);
    return world.held[snapshot] === true && (!isRemoved || has("accept of what is removed"));
  });
}

/** @param name as a run's, and later than those of all runs before it */
export function* removeProgram(
  name: number,
  { process, start, memory }: Start,
  { catalog, has }: Rules,
): Program<Ending> {
  const token = `${process}.${start}`;
  if (!(yield* takeLease(token, memory, has))) return "SKIPPED";
  memory.keep("holds the lease", true);
  const isEarly = has("files deleted before the removal's entry");
  if (isEarly) yield* deleteFiles({ snapshots: memory.keep("files", yield* listFiles()).snapshots ?? [] });
  const number = has("removal without an entry") ? Infinity : yield* takeNumber(name, token, has);
  memory.keep("number", number);
  yield* refreshCatalog("after the commit", catalog, memory, has);
  const files = memory.keep("files", yield* listFiles());
  // Where it still has the lease, no run of a new life has begun: all that is listed is of the old one.
  if (!has("lease not confirmed before files are deleted") && !(yield* confirmLease(token))) return "SKIPPED";
  const { log = [], ...others } = files;
  yield* deleteFiles({ log: log.filter((key) => Number(key) < number) });
  yield* deleteFiles(others);
  yield* perform({
    name: "deletes the lease",
    apply: (world) => ({ world: { ...world, lease: null }, result: true }),
    frees: true,
  });
  yield* freeLease(token, has);
  return "REMOVED";
}

/** Whatever the log holds: the next number is that after the last file. */
function* takeNumber(name: number, token: string, has: Rules["has"]): Program<number> {
  const entry: Entry = {
    snapshot: name,
    action: "remove",
    by: `remove ${token}`,
    pinned: false,
    writeId: token,
  };
  for (;;) {
    const last = yield* look("reads the log's last number", ({ log }) =>
      Math.max(0, ...Object.keys(log).map(Number)),
    );
    const isBlind = has("number of a removal taken without condition");
    if (yield* create("log", last + 1, entry, isBlind)) return last + 1;
    const standing = yield* look(`reads log/${last + 1}`, ({ log }) => log[last + 1]?.writeId);
    if (standing === token) return last + 1;
  }
}

/** The programs one after the other, with one memory. */
export function* inTurn(
  programs: readonly ((start: Start) => Program<Ending>)[],
  start: Start,
): Program<Ending> {
  let ending: Ending = "SKIPPED";
  for (const [index, program] of programs.entries()) {
    start.memory.keep("in turn", index);
    ending = yield* program({ ...start, process: `${start.process}${"'".repeat(index)}` });
    start.memory.forgetAll();
  }
  return ending;
}

/**
 * `decide` is called before each try, with the head of that moment; a lost race reads the log again. Where the account
 * was removed since the first reading, what is to be published is gone.
 */
function* commit(
  action: Omit<Entry, "writeId">,
  first: LogEnd,
  token: string,
  memory: Memory,
  { has }: Rules,
  decide: Decide,
): Program<Outcome | "REMOVED" | "CORRUPT"> {
  let base: Head | undefined;
  for (let tries = 1; ; tries += 1) {
    memory.keep("tries", tries);
    const since = yield* readLogSince(first.last, has);
    if (since.removal && !has("removal not asked at the commit")) return "REMOVED";
    const current = since.publications.at(-1) ?? (since.removal ? undefined : first.head);
    const head = memory.keep("head", current);
    memory.keep("last", since.last);
    const decision = tries > 1 && has("guard asked once") ? undefined : yield* decide(head);
    if (decision) return decision.end;
    if (tries === 1 || !has("changes against the first head")) base = memory.keep("base", head);
    const number = since.last + 1;
    const entry: Entry = { ...action, writeId: `${token}.${tries}` };
    if (has("catalog before commit")) yield* moveTo({ ...entry, publication: number }, memory, has);
    if (!(yield* writeChanges(number, entry.snapshot, base, memory, has))) return "CORRUPT";
    if (!(yield* create("log", number, entry, has("commit without condition")))) {
      const standing = yield* look(`reads log/${number}`, ({ log }) => log[number]?.writeId);
      if (standing !== entry.writeId || has("write id not compared")) continue;
    }
    // A number below a removal was free because it has been deleted.
    if (has("log not read after the commit")) return "PUBLISHED";
    if ((yield* readLogSince(number, has)).removal === undefined) return "PUBLISHED";
  }
}

/** False where a file of changes is there and is not what this process would write. */
function* writeChanges(
  number: number,
  snapshot: number,
  base: Head | undefined,
  memory: Memory,
  has: Rules["has"],
): Program<boolean> {
  const contents = yield* look("compares the snapshots", ({ snapshots }) => ({
    from: (base && snapshots[base.snapshot]) ?? null,
    to: snapshots[snapshot] ?? { run: snapshot, by: "nothing" },
  }));
  memory.keep("compared", contents);
  const isShared = has("changes without the snapshot in their key");
  const key = isShared ? `${number}` : `${number}/${snapshot}`;
  const isCreated = yield* create("changes", key, contents);
  const standing = isCreated
    ? contents
    : yield* look(`verifies changes/${key}`, ({ changes }) => changes[key]);
  memory.forget("compared");
  return isShared || standing === undefined || JSON.stringify(standing) === JSON.stringify(contents);
}

export const readOutcome = (run: number): Program<Outcome | undefined> =>
  look(`reads the outcome of ${run}`, ({ outcomes }) => outcomes[run]);

/** The outcome that stands counts. What is published is recorded also without the lease. */
function* record(run: number, outcome: Outcome, token: string): Program<Outcome | "SKIPPED"> {
  if (outcome !== "PUBLISHED" && !(yield* confirmLease(token))) return "SKIPPED";
  yield* create("outcomes", run, outcome);
  return outcome;
}
