// The model and the job do the same things in the same order: what a start does alone, seen at the store, is what the
// program of the model does. So the laws that the exploration proves are laws of the job.

import { describe, expect, test } from "vitest";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { removeAccount } from "../../lambdas/job/commands/decisions.ts";
import { layout } from "../../lambdas/job/storage/layout.ts";
import type { Store } from "../../lambdas/job/storage/store.ts";
import { interposed } from "../job/run/interposed-store.ts";
import { ACCOUNT, SmallWorld } from "../job/run/small-world.ts";
import { MemoryStore } from "../job/storage/memory-store.ts";
import { type Plan as ChainPlan, chainProgram } from "./chain.ts";
import { type Ending, removeProgram, reviewProgram, runProgram, type Start } from "./programs.ts";
import { Memory, type Program } from "./step.ts";
import { type FirstWorld, firstWorld, type World } from "./world.ts";

/** What the calls of the store mean in the model's words; others are not part of the protocol. */
const CALLS: readonly (readonly [RegExp, string])[] = [
  [/^read runs\/.*outcome\.json/, "asks for the outcome"],
  [/^create runs\/.*outcome\.json/, "records the outcome"],
  [/^(create|replace) accounts\/.*lease\.json/, "writes the lease"],
  [/^(list|read) publications\//, "reads the log"],
  [/^delete (?!accounts)/, "deletes files"],
  [/^delete accounts\/.*lease/, "deletes the lease"],
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
  [/^(reads the (head|log)|lists all files)/, "reads the log"],
  [/^deletes (log|staged|snapshots)/, "deletes files"],
  [/^deletes the lease/, "deletes the lease"],
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

  test("in a removal", async () => {
    const job = await jobDoes({ events: 10 }, (world) => removeAccount(world.ports()));

    expect(job).toEqual(modelDoes({ sizes: { 1: 10 } }, (start) => removeProgram(5, start, RULES)));
    expect(job).toContain("deletes the lease");
  });
});

/** The same for what is staged of a run, until its manifest is there. */
const CHAIN_CALLS: readonly (readonly [RegExp, string])[] = [
  [/^(create|replace) accounts\/.*lease\.json/, "writes the lease"],
  [/^(list runs\/|read runs\/.*record-)/, "reads what is staged"],
  [/^create runs\/.*rows-/, "writes rows"],
  [/^create runs\/.*record-/, "creates a record"],
  [/^delete runs\/.*rows-/, "deletes its rows"],
  [/^open runs\/.*rows-/, "verifies rows"],
  [/^copy snapshots\/.*part-/, "names a part"],
  [/^list snapshots\//, "compares the listing"],
  [/^create snapshots\/.*_manifest\.json/, "creates the manifest"],
];

const CHAIN_STEPS: readonly (readonly [RegExp, string])[] = [
  [/^(takes|confirms|frees) the lease/, "writes the lease"],
  [/^reads (the chain|record)/, "reads what is staged"],
  [/^writes rows/, "writes rows"],
  [/^creates record/, "creates a record"],
  [/^deletes its rows/, "deletes its rows"],
  [/^verifies rows/, "verifies rows"],
  [/^names part/, "names a part"],
  [/^compares the listing/, "compares the listing"],
  [/^creates the manifest/, "creates the manifest"],
];

describe("the job and the model stage the same", () => {
  const EVENTS = 5;
  const PLAN: ChainPlan = Array.from({ length: EVENTS }, () => "is found");

  /** Of a process that makes ranges of two events; `meanwhile` is called before each creation. */
  async function jobStages(world: SmallWorld, meanwhile: (key: string) => void): Promise<readonly string[]> {
    const calls: string[] = [];
    const store = recording(
      interposed(world.store, async (key) => meanwhile(key)),
      calls,
    );
    await world.run({ runId: RUN }, { store });
    return staging(inWords(calls, CHAIN_CALLS));
  }

  function modelStages(first: World, meanwhile: (step: string, world: World) => World): readonly string[] {
    const names: string[] = [];
    const running = chainProgram(2, PLAN, { process: "P", start: 1, memory: new Memory() }, () => false);
    let world = first;
    let next = running.next();
    while (!next.done) {
      const { name, apply, choices = [] } = next.value;
      names.push(name);
      world = meanwhile(name, world);
      const effect = apply(world);
      world = effect.world;
      const range = [effect.result, ...choices].find((choice) => choice === "++");
      next = running.next(range ?? effect.result);
    }
    return staging(inWords(names, CHAIN_STEPS));
  }

  /** Before it the job looks whether the run is published already. */
  const staging = (words: readonly string[]): readonly string[] =>
    words.slice(words.indexOf("reads what is staged"), words.indexOf("creates the manifest") + 1);

  const smallWorld = (rangeEvents: number): SmallWorld => {
    const world = new SmallWorld({ rangeEvents, concurrency: 1 });
    world.show(EVENTS);
    return world;
  };

  /** With a record for each event from a place on, as another process makes them. */
  function staged(world: World, from: number, to: number): World {
    let { chain } = world;
    for (let place = from; place < to; place += 1) {
      const file = { by: "other", found: [place], isWhole: true, readBy: ["other"] };
      const record = { end: place + 1, by: "other", found: [place], leftOut: [] };
      chain = {
        ...chain,
        rows: { ...chain.rows, [`${place}/other`]: file },
        records: { ...chain.records, [place]: record },
      };
    }
    return { ...world, chain };
  }

  /** The same in a store: they are those of a run with ranges of one event. */
  async function stage(store: MemoryStore, places: readonly number[]): Promise<void> {
    const other = smallWorld(1);
    await other.run({ runId: RUN });
    for (const key of other.store.keys(`runs/${ACCOUNT}/${RUN}/`)) {
      const isPlan = key.endsWith("plan.ndjson.gz");
      if (!isPlan && !places.some((place) => key.includes(`-0000000${place}`))) continue;
      const { bytes } = (await other.store.read(key)) ?? {};
      if (bytes && store.text(key) === undefined) store.put(key, bytes);
    }
  }

  test("in a collection of several ranges", async () => {
    const job = await jobStages(smallWorld(2), () => undefined);

    expect(job).toEqual(modelStages(firstWorld({ sizes: {}, events: EVENTS }), (_, world) => world));
    expect(job.filter((word) => word === "creates a record")).toHaveLength(3);
  });

  test("in a run that is resumed", async () => {
    const world = smallWorld(2);
    await stage(world.store, [0, 1, 2]);

    const job = await jobStages(world, () => undefined);

    const first = staged(firstWorld({ sizes: {}, events: EVENTS }), 0, 3);
    expect(job).toEqual(modelStages(first, (_, world) => world));
    expect(job.filter((word) => word === "creates a record")).toHaveLength(1);
    expect(job).toContain("verifies rows");
  });

  test("after a lost race for a record", async () => {
    const world = smallWorld(2);
    const ready = new MemoryStore();
    await stage(ready, [2, 3]);
    const others = await Promise.all(
      ready.keys().map(async (key) => [key, (await ready.read(key))?.bytes] as const),
    );

    const job = await jobStages(world, (key) => {
      if (!key.endsWith("record-00000002.json")) return;
      for (const [other, bytes] of others)
        if (bytes && world.store.text(other) === undefined) world.store.put(other, bytes);
    });

    const model = modelStages(firstWorld({ sizes: {}, events: EVENTS }), (step, world) =>
      step === "creates record/2" ? staged(world, 2, 4) : world,
    );
    expect(job).toEqual(model);
    expect(job).toContain("deletes its rows");
    expect(job).toContain("verifies rows");
  });
});

const RUN = "2026-06-01T06-00-00.000Z";
const OF_THE_SAME_DAY = "2026-06-01T00-00-00.000Z";
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
  // What the first snapshot of a day does beside is not part of the protocol.
  world.store.put(layout(ACCOUNT).retired(OF_THE_SAME_DAY), "{}");
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
    delete: async (keys) => {
      for (const key of keys) await noted(`delete ${key}`, store.delete([key]));
    },
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
  return each.filter((word, index) => word !== "reads the log" || !isEnd(each.slice(index + 1)));
}

function isEnd([next, after]: readonly string[]): boolean {
  const isConfirmation = next === "writes the lease" && after === "records the outcome";
  return next === undefined || next === "records the outcome" || isConfirmation;
}
