// Runs each test once as it is, and then once for each mutation that it reaches and that no test has noticed yet: in one
// process, which has loaded all of them.

import { existsSync, rmSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { setImmediate, setTimeout } from "node:timers/promises";
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from "vitest";
import { writeRecord } from "./write-record.ts";

/** What the tests of one file have to do with the mutations, by their numbers. */
export interface Reached {
  /** Fails without any mutation. */
  readonly isFailed: boolean;
  readonly inTests: readonly number[];
  /** In its hooks, or while it is loaded, or in a test that cannot be repeated in its process. */
  readonly elsewhere: readonly number[];
  /** In a slow test, for which this was not the round. */
  readonly later: readonly number[];
}

export interface Fate {
  readonly verdict: "KILLED" | "TIME";
  readonly by: string;
}

const FOLDER = process.env["MUTANTS_FOLDER"] ?? "";
const IS_SLOW_ROUND = process.env["MUTANTS_ROUND"] === "slow";
const SLOW_MS = 300;

/** A mutated test may take so much longer: the machine has other work too. */
const MORE_MS = 2_000;
const TIMES_AS_LONG = 10;

const state = { active: Number(process.env["MUTANT"] ?? 0), reached: new Set<number>() };

Object.assign(globalThis, {
  isMutant: (id: number): boolean => {
    state.reached.add(id);
    return id === state.active;
  },
});

// biome-ignore lint/style/noDefaultExport: this is how vitest takes its runner
export default class MutantRunner extends TestRunner {
  readonly #inTests = new Set<number>();
  readonly #elsewhere = new Set<number>();
  readonly #later = new Set<number>();
  #isFailed = false;

  async runTask(test: RunnerTestCase): Promise<void> {
    const run = TestRunner.getTestFn(test);
    if (state.active > 0) return void (await run());
    this.#keepElsewhere();
    const beganMs = performance.now();
    try {
      await run();
    } catch (error) {
      this.#isFailed = true;
      throw error;
    }
    const ms = performance.now() - beganMs;
    const reached = [...state.reached];
    for (const id of reached) this.#inTests.add(id);
    if (ms > SLOW_MS && !IS_SLOW_ROUND) for (const id of reached) this.#later.add(id);
    else if (ms > SLOW_MS || !IS_SLOW_ROUND)
      await this.#tryAll(reached, run, `${test.file.name} > ${test.name}`, MORE_MS + TIMES_AS_LONG * ms);
    state.reached = new Set();
  }

  async #tryAll(ids: readonly number[], run: () => unknown, by: string, mostMs: number): Promise<void> {
    for (const id of ids) {
      const place = join(FOLDER, "fates", String(id));
      if (existsSync(place)) continue;
      const running = join(FOLDER, "running", String(process.pid));
      writeRecord(running, { id, untilMs: Date.now() + mostMs + MORE_MS });
      const verdict = await verdictOf(id, run, mostMs);
      rmSync(running, { force: true });
      if (verdict === undefined) continue;
      if ((await verdictOf(0, run, mostMs)) !== undefined) {
        for (const left of ids) this.#elsewhere.add(left);
        return;
      }
      writeRecord(place, { verdict, by } satisfies Fate);
    }
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files);
    this.#keepElsewhere();
    const [inTests, elsewhere, later] = [this.#inTests, this.#elsewhere, this.#later].map((ids) => [...ids]);
    const reached = { isFailed: this.#isFailed, inTests, elsewhere, later };
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

/** Undefined where the test passes. */
async function verdictOf(
  id: number,
  run: () => unknown,
  mostMs: number,
): Promise<Fate["verdict"] | undefined> {
  const strays: unknown[] = [];
  const onStray = (error: unknown): void => void strays.push(error);
  process.on("unhandledRejection", onStray);
  const over = new AbortController();
  state.active = id;
  try {
    const isLate = await Promise.race([
      (async () => void (await run()))(),
      setTimeout(mostMs, true, { signal: over.signal }),
    ]);
    // A rejection that is awaited by nothing shows a moment later.
    await setImmediate();
    return isLate ? "TIME" : strays.length > 0 ? "KILLED" : undefined;
  } catch {
    return "KILLED";
  } finally {
    state.active = 0;
    over.abort();
    process.off("unhandledRejection", onStray);
  }
}
