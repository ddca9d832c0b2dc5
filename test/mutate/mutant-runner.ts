// Runs each test once as it is, and then once for each mutation that it reaches and that no test has noticed yet: in one
// process, which has loaded all of them.

import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite, TestRunner } from "vitest";
import { writeRecord } from "./write-record.ts";

/** What the tests of one file have to do with the mutations, by their numbers. */
export interface Reached {
  /** Fails without any mutation. */
  readonly isFailed: boolean;
  /** A mutated test has not ended in its process: what it goes on to do may make others fail. */
  readonly isAfterLate: boolean;
  readonly inTests: readonly number[];
  /** In hooks around all of it, or while it is loaded, or in a test that cannot be repeated in its process. */
  readonly elsewhere: readonly number[];
  /** In a slow test, for which this was not the round. */
  readonly later: readonly number[];
}

export interface Fate {
  readonly verdict: "KILLED" | "TIME";
  readonly by: string;
}

const FOLDER = process.env["MUTANTS_FOLDER"] ?? "";
/** The tests that have passed with a mutation: not tried a second time where a process had to be stopped. */
const PASSED = join(FOLDER, "passed");
const IS_SLOW_ROUND = process.env["MUTANTS_ROUND"] === "slow";
const SLOW_MS = 300;

/** A mutated test may take so much longer: the machine has other work too. */
const MORE_MS = 2_000;
const TIMES_AS_LONG = 10;

/** So often an active mutation may look whether it is late. */
const CALLS_A_LOOK = 1_024;

const state = {
  active: Number(process.env["MUTANT"] ?? 0),
  reached: new Set<number>(),
  hasLate: false,
  untilMs: Number.POSITIVE_INFINITY,
  calls: 0,
};

Object.assign(globalThis, {
  isMutant: (id: number): boolean => {
    state.reached.add(id);
    if (state.active === 0) return false;
    // Nothing else ends a loop that leaves no room for timers.
    if (state.calls++ % CALLS_A_LOOK === 0 && performance.now() > state.untilMs) {
      state.calls = 0;
      throw new Error("A mutated test does not end.");
    }
    return id === state.active;
  },
});

// biome-ignore lint/style/noDefaultExport: this is how vitest takes its runner
export default class MutantRunner extends TestRunner {
  readonly #inTests = new Set<number>();
  readonly #elsewhere = new Set<number>();
  readonly #later = new Set<number>();
  readonly #passed = new Set(existsSync(PASSED) ? readFileSync(PASSED, "utf8").split("\n") : []);
  #isFailed = false;
  #beganMs = 0;

  /** Before the hooks of a test. */
  override onBeforeTryTask(test: RunnerTestCase, options: { retry: number; repeats: number }): void {
    super.onBeforeTryTask(test, options);
    if (state.active === 0) this.#keepElsewhere();
    this.#beganMs = performance.now();
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (state.active > 0) return void (await run());
    try {
      await run();
    } catch (error) {
      this.#isFailed = true;
      throw error;
    }
    const ms = performance.now() - this.#beganMs;
    const reached = [...state.reached];
    for (const id of reached) this.#inTests.add(id);
    if (ms > SLOW_MS && !IS_SLOW_ROUND) for (const id of reached) this.#later.add(id);
    else if (ms > SLOW_MS || !IS_SLOW_ROUND) await this.#tryAll(reached, test, MORE_MS + TIMES_AS_LONG * ms);
    state.reached = new Set();
  }

  async #tryAll(ids: readonly number[], test: RunnerTestCase, mostMs: number): Promise<void> {
    for (const id of ids) {
      const place = join(FOLDER, "fates", String(id));
      const trial = `${test.id} ${id}`;
      if (existsSync(place) || this.#passed.has(trial)) continue;
      const running = join(FOLDER, "running", String(process.pid));
      writeRecord(running, { id, untilMs: Date.now() + mostMs + MORE_MS });
      const verdict = await verdictOf(id, test, mostMs);
      rmSync(running, { force: true });
      if (verdict === undefined) appendFileSync(PASSED, `${trial}\n`);
      if (verdict === undefined) continue;
      if (verdict === "TIME") state.hasLate = true;
      if ((await verdictOf(0, test, mostMs)) !== undefined) {
        for (const left of ids) this.#elsewhere.add(left);
        return;
      }
      writeRecord(place, { verdict, by: `${test.file.name} > ${test.name}` } satisfies Fate);
    }
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    this.#keepElsewhere();
    const [inTests, elsewhere, later] = [this.#inTests, this.#elsewhere, this.#later].map((ids) => [...ids]);
    const reached = { isFailed: this.#isFailed, isAfterLate: state.hasLate, inTests, elsewhere, later };
    for (const { filepath } of files) {
      const name = encodeURIComponent(relative(process.cwd(), filepath).split(sep).join("/"));
      writeRecord(join(FOLDER, "reached", name), reached);
    }
    for (const ids of [this.#inTests, this.#elsewhere, this.#later]) ids.clear();
    this.#isFailed = false;
  }

  #keepElsewhere(): void {
    for (const id of state.reached) this.#elsewhere.add(id);
    state.reached = new Set();
  }
}

/** Undefined where the test passes, with its hooks before. */
async function verdictOf(
  id: number,
  test: RunnerTestCase,
  mostMs: number,
): Promise<Fate["verdict"] | undefined> {
  const strays: unknown[] = [];
  const onStray = (error: unknown): void => void strays.push(error);
  process.on("unhandledRejection", onStray);
  const over = new AbortController();
  Object.assign(state, { active: id, untilMs: performance.now() + mostMs });
  try {
    const isLate = await Promise.race([again(test), setTimeout(mostMs, true, { signal: over.signal })]);
    // A rejection that is awaited by nothing shows a moment later.
    await setImmediate();
    return isLate ? "TIME" : strays.length > 0 ? "KILLED" : undefined;
  } catch {
    return performance.now() > state.untilMs ? "TIME" : "KILLED";
  } finally {
    Object.assign(state, { active: 0, untilMs: Number.POSITIVE_INFINITY });
    over.abort();
    process.off("unhandledRejection", onStray);
  }
}

async function again(test: RunnerTestCase): Promise<void> {
  for (const suite of suitesAround(test))
    for (const hook of TestRunner.getSuiteHooks(suite).beforeEach) await hook(test.context, suite);
  await TestRunner.getTestFn(test)();
}

/** The outer ones first. */
function suitesAround(test: RunnerTestCase): readonly RunnerTestSuite[] {
  const inner: RunnerTestSuite[] = [];
  for (let { suite } = test; suite; { suite } = suite) inner.unshift(suite);
  return [test.file, ...inner];
}
