// The model and the job do the same things in the same order: what a start does alone, seen at the store, is what the
// program of the model does. So the laws that the exploration proves are laws of the job.

import { describe, expect, test } from "vitest";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import type { Store } from "../../lambdas/job/storage/store.ts";
import { SmallWorld } from "../job/run/small-world.ts";
import { type Ending, reviewProgram, runProgram, type Start } from "./programs.ts";
import { Memory, type Program } from "./step.ts";
import { type FirstWorld, firstWorld } from "./world.ts";

/** What the calls of the store mean in the model's words; others are not part of the protocol. */
const CALLS: readonly (readonly [RegExp, string])[] = [
  [/^read runs\/.*outcome\.json/, "asks for the outcome"],
  [/^create runs\/.*outcome\.json/, "records the outcome"],
  [/^(create|replace) accounts\/.*lease\.json/, "writes the lease"],
  [/^(list|read) publications\//, "reads the log"],
  [/^create publications\//, "commits"],
  [/^create runs\/.*record/, "stages"],
  [/^create snapshots\/.*_manifest\.json/, "creates the snapshot"],
  [/^create snapshots\/.*_held\.json/, "marks it as held"],
  [/^create changes\//, "writes the changes"],
  [/^read views\.sql/, "reads views.sql"],
  [/^(create|replace) views\.sql/, "replaces views.sql"],
];

const STEPS: readonly (readonly [RegExp, string])[] = [
  [/^reads the outcome/, "asks for the outcome"],
  [/^creates outcomes/, "records the outcome"],
  [/^(takes|confirms|frees) the lease/, "writes the lease"],
  [/^reads the (head|log)/, "reads the log"],
  [/^creates log/, "commits"],
  [/^creates staged/, "stages"],
  [/^creates snapshots/, "creates the snapshot"],
  [/^creates held/, "marks it as held"],
  [/^creates changes/, "writes the changes"],
  [/^reads views/, "reads views.sql"],
  [/^replaces views/, "replaces views.sql"],
];

describe("the job and the model do the same", () => {
  test("in a run that publishes", async () => {
    const job = await jobDoes({ events: 10 }, (world) => world.run({ runId: RUN }));

    expect(job).toEqual(modelDoes({ sizes: { 1: 10, 2: 10 } }, (start) => runProgram(2, start, RULES)));
    expect(job).toContain("commits");
  });

  test("in a run that is held", async () => {
    const job = await jobDoes({ events: 5 }, (world) => world.run({ runId: RUN }));

    expect(job).toEqual(modelDoes({ sizes: { 1: 10, 2: 5 } }, (start) => runProgram(2, start, RULES)));
    expect(job).toContain("marks it as held");
  });

  test("in the accept of a held snapshot", async () => {
    const job = await jobDoes({ events: 5, held: true }, (world) => world.accept(RUN));

    const model = modelDoes({ sizes: { 1: 10, 2: 5 }, held: [2] }, (start) =>
      reviewProgram("accept", 2, start, RULES),
    );
    expect(job).toEqual(model);
  });
});

const RUN = "2026-06-01T06-00-00.000Z";
const RULES = { catalog: "views.sql", has: () => false } as const;

interface Before {
  /** The service lists so many events; the head has 10. */
  readonly events: number;
  readonly held?: boolean;
}

async function jobDoes(
  { events, held = false }: Before,
  start: (world: SmallWorld) => Promise<unknown>,
): Promise<readonly string[]> {
  const world = new SmallWorld();
  const calls: string[] = [];
  const store = recording(world.store, calls);
  const onDisk = { store, catalog: new DuckdbCatalog({ store, directory: "/warehouse" }) };
  world.show(10);
  await world.run({}, onDisk);
  world.show(events, 2);
  if (held) await world.run({ runId: RUN }, onDisk);
  calls.length = 0;
  const ports = world.ports.bind(world);
  world.ports = (changes) => ports({ ...changes, ...onDisk });
  await start(world);
  return inWords(calls, CALLS);
}

function recording(store: Store, calls: string[]): Store {
  const noted = <Result>(call: string, result: Result): Result => {
    calls.push(call);
    return result;
  };
  return {
    read: (key) => noted(`read ${key}`, store.read(key)),
    open: (key) => noted(`open ${key}`, store.open(key)),
    create: async (key, body) => noted(`create ${key}`, await store.create(key, body)),
    copy: (from, to) => noted(`copy ${to}`, store.copy(from, to)),
    replace: (key, bytes, version) => noted(`replace ${key}`, store.replace(key, bytes, version)),
    list: (prefix, after) => noted(`list ${prefix}`, store.list(prefix, after)),
    delete: (key) => noted(`delete ${key}`, store.delete(key)),
  };
}

function modelDoes(first: FirstWorld, program: (start: Start) => Program<Ending>): readonly string[] {
  const names: string[] = [];
  const running = program({ process: "P", start: 1, memory: new Memory() });
  let world = firstWorld(first);
  let next = running.next();
  while (!next.done) {
    names.push(next.value.name);
    const effect = next.value.apply(world);
    world = effect.world;
    next = running.next(effect.result);
  }
  return inWords(names, STEPS);
}

/**
 * Without repetitions: one step of the model may be several calls, such as a list and a read. A last reading of the log
 * serves the result and the deletion of old snapshots, and is not in the model.
 */
function inWords(names: readonly string[], words: readonly (readonly [RegExp, string])[]): readonly string[] {
  const all = names.flatMap((name) => words.find(([pattern]) => pattern.test(name))?.[1] ?? []);
  const each = all.filter((word, index) => word !== all[index - 1]);
  return each.filter((word, index) => word !== "reads the log" || !isEnd(each[index + 1]));
}

function isEnd(next: string | undefined): boolean {
  return next === undefined || next === "records the outcome";
}
