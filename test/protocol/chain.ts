// COLLECT and the parts of a snapshot, event by event: ranges of any length, records that are created once, and parts
// that are named when all is recorded. In `programs.ts` all of that is one file.

import type { Defect } from "./defects.ts";
import { confirmLease, freeLease, takeLease } from "./lease.ts";
import { type Ending, readOutcome, type Start } from "./programs.ts";
import { create, look, type Memory, type Program, perform, type Step } from "./step.ts";
import { type ChainRecord, type ChainWorld, put, type RowsFile } from "./world.ts";

type Has = (defect: Defect) => boolean;

/** A record as a process knows it. */
interface Known extends ChainRecord {
  readonly place: number;
}

/** An event that flaps is found or gone, whenever it is asked for. */
export type Plan = readonly ("is found" | "flaps")[];

interface Collected {
  readonly chain: readonly Known[];
  /** The places of the records that this start has made. */
  readonly own: readonly number[];
}

export function* chainProgram(
  run: number,
  plan: Plan,
  { process, start, memory }: Start,
  has: Has,
): Program<Ending> {
  const token = `${process}.${start}`;
  if (!(yield* takeLease(token, memory, has))) return "SKIPPED";
  memory.keep("holds the lease", true);
  const isFinished = (yield* readOutcome(run)) !== undefined;
  let ending: Ending = isFinished ? "REPEATED" : yield* underLease(run, plan, token, memory, has);
  memory.forgetAll();
  memory.keep("ending", ending);
  if (ending === "CORRUPT" && (yield* confirmLease(token))) yield* create("outcomes", run, "FAILED");
  else if (ending === "CORRUPT") ending = memory.keep("ending", "SKIPPED");
  yield* freeLease(token, has);
  return ending;
}

function* underLease(run: number, plan: Plan, token: string, memory: Memory, has: Has): Program<Ending> {
  const collected = yield* collect(run, plan, token, memory, has);
  if (typeof collected === "string") return collected;
  const { chain, own } = collected;
  memory.keep("all is recorded", true);
  const staged = chain.filter(({ by }) => by !== null);
  if (!has("parts are staged in place")) {
    for (const { place, by } of staged) {
      if (own.includes(place) || has("another process's rows are not verified")) continue;
      if (!(yield* verify(`verifies rows/${place}`, (world) => world.rows[`${place}/${by}`], token)))
        return "CORRUPT";
    }
    for (const [index, record] of staged.entries()) {
      const named = yield* namePart(index, record);
      // A retry: reading the chain says what is wrong.
      if (named === "gone") return "FAILED";
      if (named || has("a part that is there is not verified")) continue;
      if (!(yield* verifyPart(index, record, token))) return "CORRUPT";
    }
  }
  const sizes = staged.map(({ found }) => found.length);
  if (!has("the listing is not compared") && !(yield* compareListing(sizes))) return "CORRUPT";
  const leftOut = chain.flatMap((record) => record.leftOut);
  yield* inChain("creates the manifest", (world) =>
    world.manifest === null
      ? [{ ...world, manifest: { by: token, parts: staged.length, leftOut } }, true]
      : [world, false],
  );
  return "MADE";
}

/** Extends the chain to the end of the plan. */
function* collect(
  run: number,
  plan: Plan,
  token: string,
  memory: Memory,
  has: Has,
): Program<Collected | Ending> {
  const isInPlace = has("parts are staged in place");
  const found = isInPlace ? yield* readParts() : yield* readChain();
  if (found === undefined) return "CORRUPT";
  let chain = memory.keep("chain", found);
  let own: readonly number[] = memory.keep("own", []);
  for (;;) {
    const place = chain.at(-1)?.end ?? 0;
    if (place >= plan.length) return { chain, own };
    const range = memory.keep("range", yield* fetchRange(run, place, plan.slice(place)));
    const by = range.found.length > 0 ? token : null;
    if (by !== null && !isInPlace) yield* writeRows(place, by, range.found);
    if (!(yield* confirmLease(token)) && !has("a record is made after the lease was lost")) return "SKIPPED";
    const record: Known = { place, by, ...range };
    const index = chain.filter((each) => each.by !== null).length;
    const standing = yield* isInPlace ? stagePart(index, record) : addRecord(record, memory, has);
    if (standing === undefined) {
      chain = [...chain, record];
      own = [...own, place];
    } else {
      const isOwnEnd = has("the end after a lost race is one's own");
      chain = [
        ...chain,
        ...(isOwnEnd ? standing.slice(0, 1).map((one) => ({ ...one, end: range.end })) : standing),
      ];
      own = [];
    }
    memory.keep("chain", chain);
    memory.keep("own", own);
    memory.forget("standing");
    if (standing !== undefined && by !== null && !isInPlace) {
      if (!(yield* confirmLease(token))) return "SKIPPED";
      yield* deleteRows(place, by);
    }
    memory.forget("range");
  }
}

/** Undefined where the rows of a record are not there. */
const readChain = (): Program<readonly Known[] | undefined> =>
  look("reads the chain", ({ chain }) => {
    const records = recordsFrom(chain, 0);
    const isWhole = records.every(({ place, by }) => by === null || chain.rows[`${place}/${by}`]);
    return isWhole ? records : undefined;
  });

function recordsFrom({ records }: ChainWorld, first: number): readonly Known[] {
  const all: Known[] = [];
  for (let place = first, next = records[place]; next !== undefined; next = records[place]) {
    all.push({ place, ...next });
    place = next.end;
  }
  return all;
}

/** A range may be cut anywhere. */
function* fetchRange(
  run: number,
  place: number,
  rest: Plan,
): Program<Pick<ChainRecord, "end" | "found" | "leftOut">> {
  const [all = "", ...others] = answers(rest);
  const answer = yield* perform({
    name: `fetches from ${place} on`,
    apply: (world) => ({ world, result: all }),
    choices: others,
    requestsFor: run,
  });
  const places = (kind: string): readonly number[] =>
    [...answer].flatMap((each, index) => (each === kind ? place + index : []));
  return { end: place + answer.length, found: places("+"), leftOut: places("-") };
}

/** Of the first event, of the first two, and so on: "+" for a row, "-" for none. */
function answers([first, ...rest]: Plan): readonly string[] {
  if (first === undefined) return [];
  const ofFirst = first === "flaps" ? ["+", "-"] : ["+"];
  return [...answers(rest), ""].flatMap((each) => ofFirst.map((one) => `${one}${each}`));
}

/** Undefined where the record is this process's; otherwise those that stand there. */
function* addRecord(
  { place, ...record }: Known,
  memory: Memory,
  has: Has,
): Program<readonly Known[] | undefined> {
  const overwrites = has("a record is created without a condition");
  const isCreated = yield* inChain(
    `creates record/${place}`,
    (chain) =>
      chain.records[place] === undefined || overwrites
        ? [{ ...chain, records: put(chain.records, place, record) }, true]
        : [chain, false],
    { lost: false, needsLease: true },
  );
  if (isCreated) return undefined;
  const standing = memory.keep(
    "standing",
    yield* look(`reads record/${place} and those behind it`, ({ chain }) => recordsFrom(chain, place)),
  );
  const isOwn = isSame(standing[0], { place, ...record });
  return isOwn && !has("a record is not known as one's own") ? undefined : standing;
}

function writeRows(place: number, by: string, found: readonly number[]): Program<boolean> {
  const file: RowsFile = { by, found, isWhole: true, readBy: [by] };
  return inChain(`writes rows/${place}`, (chain) => [
    { ...chain, rows: put(chain.rows, `${place}/${by}`, file) },
    true,
  ]);
}

function deleteRows(place: number, by: string): Program<boolean> {
  return inChain(`deletes its rows/${place}`, (chain) => [without(chain, "rows", `${place}/${by}`), true]);
}

/** True where the rows are what they were; the process then relies on them. */
function verify(
  name: string,
  at: (chain: ChainWorld) => RowsFile | undefined,
  token: string,
): Program<boolean> {
  return inChain(name, (chain) => {
    const file = at(chain);
    if (!file?.isWhole) return [chain, false];
    const read: RowsFile = { ...file, readBy: [...new Set([...file.readBy, token])].sort() };
    const replaced = <Files extends Readonly<Record<string, RowsFile>>>(
      files: Files,
    ): Readonly<Record<string, RowsFile>> =>
      Object.fromEntries(Object.entries(files).map(([key, each]) => [key, each === file ? read : each]));
    return [{ ...chain, rows: replaced(chain.rows), parts: replaced(chain.parts) }, true];
  });
}

function verifyPart(index: number, { by, found }: Known, token: string): Program<boolean> {
  const at = ({ parts }: ChainWorld): RowsFile | undefined => {
    const part = parts[index];
    return part?.by === by && isSame(part?.found, found) ? part : undefined;
  };
  return verify(`verifies part ${index}`, at, token);
}

/** False where there is such a part already. */
function namePart(index: number, { place, by }: Known): Program<boolean | "gone"> {
  return inChain<boolean | "gone">(
    `names part ${index}`,
    (chain) => {
      const rows = chain.rows[`${place}/${by}`];
      if (chain.parts[index] !== undefined) return [chain, false];
      return rows ? [withPart(chain, index, rows), true] : [chain, "gone"];
    },
    { lost: false },
  );
}

/** Exactly these parts, with these sizes. */
function compareListing(sizes: readonly number[]): Program<boolean> {
  return inChain("compares the listing", (chain) => {
    const found = Object.entries(chain.parts).map(([index, part]) => [Number(index), part.found.length]);
    return isSame(found, [...sizes.entries()]) ? [{ ...chain, isCompared: true }, true] : [chain, false];
  });
}

/** A defect: no record, so a part says by its last row where the next one begins. */
function* stagePart(index: number, { by, found }: Known): Program<readonly Known[] | undefined> {
  if (by === null) return undefined;
  const file: RowsFile = { by, found, isWhole: true, readBy: [by] };
  const isCreated = yield* inChain(`creates part ${index}`, (chain) =>
    chain.parts[index] === undefined ? [withPart(chain, index, file), true] : [chain, false],
  );
  return isCreated ? undefined : (yield* readParts()).slice(index);
}

const readParts = (): Program<readonly Known[]> =>
  look("reads the parts", ({ chain: { parts } }) => {
    let place = 0;
    return Object.values(parts).map(({ by, found }): Known => {
      const end = Math.max(...found) + 1;
      const gaps = Array.from({ length: Math.max(end - place, 0) }, (_, index) => place + index);
      const leftOut = gaps.filter((event) => !found.includes(event));
      place = end;
      return { place, end, by, found, leftOut };
    });
  });

const DAMAGES = {
  "loses rows": (chain, index) => {
    const key = Object.keys(chain.rows).filter((each) => isRecorded(chain, each))[index];
    return key === undefined ? chain : { ...without(chain, "rows", key), isDamaged: true };
  },
  "damages rows": (chain, index) => {
    const [key, file] = Object.entries(chain.rows).filter(([each]) => isRecorded(chain, each))[index] ?? [];
    if (key === undefined || file === undefined) return chain;
    return { ...chain, rows: put(chain.rows, key, { ...file, isWhole: false }), isDamaged: true };
  },
  // Nothing that is lost after the last look can be seen.
  "loses parts": (chain, index) =>
    chain.parts[index] === undefined || chain.isCompared
      ? chain
      : { ...without(chain, "parts", String(index)), isDamaged: true },
} as const satisfies Readonly<Record<string, (chain: ChainWorld, index: number) => ChainWorld>>;

export type Damage = keyof typeof DAMAGES;

export function isDamage(text: string): text is Damage {
  return Object.hasOwn(DAMAGES, text);
}

/** What happens to the warehouse at any time: one file, or none. */
export function* damageProgram(damage: Damage, { memory }: Start): Program<Ending> {
  for (let index = 0; index < 2; index += 1) {
    memory.keep("index", index);
    const has = yield* inChain(
      `the warehouse ${damage} ${index}`,
      (chain) => [DAMAGES[damage](chain, index), true],
      { choices: [false] },
    );
    if (has) break;
  }
  return "MADE";
}

function isRecorded({ records }: ChainWorld, key: string): boolean {
  const [place = "", by] = key.split("/");
  return records[Number(place)]?.by === by;
}

function inChain<Result = boolean>(
  name: string,
  change: (chain: ChainWorld) => readonly [ChainWorld, Result],
  more: Partial<Step<Result>> = {},
): Program<Result> {
  return perform({
    name,
    apply: (world) => {
      const [chain, result] = change(world.chain);
      return { world: { ...world, chain }, result };
    },
    ...more,
  });
}

function withPart(chain: ChainWorld, index: number, file: RowsFile): ChainWorld {
  return { ...chain, parts: put(chain.parts, index, file) };
}

function without(chain: ChainWorld, folder: "rows" | "parts", key: string): ChainWorld {
  const entries = Object.entries(chain[folder]).filter(([each]) => each !== key);
  return { ...chain, [folder]: Object.fromEntries(entries) };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
