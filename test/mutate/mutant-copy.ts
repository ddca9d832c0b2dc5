// A copy of the project below a temporary folder, whose sources have all mutations, each asleep.

import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fate, Reached } from "./mutant-runner.ts";
import { type Mutation, withMutations } from "./mutations.ts";
import { writeRecord } from "./write-record.ts";

const COPIED: ReadonlySet<string> = new Set(["bin", "lambdas", "test", "docs"]);
const WORKERS = 2;
const LOOK_EVERY_MS = 500;
/** For a single mutation, in a process of its own. */
const ALONE_MS = 120_000;

export class MutantCopy implements Disposable {
  readonly #root = mkdtempSync(join(tmpdir(), "mutants-"));
  readonly #state = join(this.#root, "mutants");
  readonly #count: number;

  /** The numbers of mutations begin with 1. */
  constructor(root: string, mutations: ReadonlyMap<number, Mutation>) {
    this.#count = mutations.size;
    for (const name of readdirSync(root)) {
      if (!COPIED.has(name) && !/\.(?:json|ts)$/.test(name)) continue;
      cpSync(join(root, name), join(this.#root, name), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(this.#root, "node_modules"));
    for (const name of ["fates", "reached", "running"])
      mkdirSync(join(this.#state, name), { recursive: true });
    for (const [file, some] of Map.groupBy(mutations, ([, mutation]) => mutation.file)) {
      const path = join(this.#root, file);
      writeFileSync(path, withMutations(readFileSync(path, "utf8"), new Map(some)));
    }
  }

  /** Runs these test files, as long as a mutation is left. Slow tests see only what all others have left. */
  async round(tests: readonly string[], round: "quick" | "slow"): Promise<ReadonlyMap<string, Reached>> {
    const recordOf = (test: string): string => join(this.#state, "reached", encodeURIComponent(test));
    const reachedBy = (test: string): Reached => JSON.parse(readFileSync(recordOf(test), "utf8"));
    const isLeft = (test: string): boolean => {
      if (!existsSync(recordOf(test))) return true;
      const { isFailed, isAfterLate } = reachedBy(test);
      return isFailed && isAfterLate;
    };
    for (let left = tests; left.length > 0 && !this.#isOver; left = left.filter(isLeft)) {
      for (const test of left) rmSync(recordOf(test), { force: true });
      const { output, isStopped } = await this.#run(left, { MUTANTS_ROUND: round });
      if (!isStopped && left.every((test) => !existsSync(recordOf(test))))
        throw new Error(`No test ran:\n${output}`);
    }
    return new Map(tests.filter((test) => !isLeft(test)).map((test) => [test, reachedBy(test)]));
  }

  /** Is not tried: only who reaches it is noted. */
  leaveOut(id: number): void {
    this.#decide(id, { verdict: "KILLED", by: "not tried" });
  }

  #decide(id: number, fate: Fate): void {
    writeRecord(join(this.#state, "fates", String(id)), fate);
  }

  /** By number; the others were not noticed by any test so far. */
  fates(): ReadonlyMap<number, Fate> {
    const folder = join(this.#state, "fates");
    return new Map(
      readdirSync(folder).map((id) => [Number(id), JSON.parse(readFileSync(join(folder, id), "utf8"))]),
    );
  }

  /** One mutation in a process of its own. */
  async tryAlone(id: number, tests: readonly string[]): Promise<void> {
    const { isFailed, isStopped } = await this.#run(
      [...tests, "--bail", "1"],
      { MUTANT: String(id) },
      Date.now() + ALONE_MS,
    );
    if (!isFailed) return;
    this.#decide(id, { verdict: isStopped ? "TIME" : "KILLED", by: "alone" });
  }

  async #run(
    tests: readonly string[],
    env: Readonly<Record<string, string>>,
    untilMs = Number.POSITIVE_INFINITY,
  ): Promise<{ output: string; isFailed: boolean; isStopped: boolean }> {
    const vitest = join(this.#root, "node_modules/vitest/vitest.mjs");
    const options = [
      "--config",
      "test/mutate/vitest.config.ts",
      "--reporter",
      "dot",
      "--maxWorkers",
      String(WORKERS),
    ];
    const child = spawn(process.execPath, [vitest, "run", ...options, ...tests], {
      cwd: this.#root,
      env: { ...process.env, NO_COLOR: "1", MUTANTS_FOLDER: this.#state, ...env },
      // A group of its own: a test in an endless loop does not notice that its parent is gone.
      detached: true,
    });
    let output = "";
    child.stdout.on("data", (text) => (output += text));
    child.stderr.on("data", (text) => (output += text));
    let isStopped = false;
    const look = setInterval(() => {
      if (!this.#markLate() && Date.now() < untilMs && !this.#isOver) return;
      isStopped = true;
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    }, LOOK_EVERY_MS);
    const [status] = await once(child, "close");
    clearInterval(look);
    for (const name of readdirSync(join(this.#state, "running"))) rmSync(join(this.#state, "running", name));
    return { output, isFailed: status !== 0, isStopped };
  }

  /** None is left. */
  get #isOver(): boolean {
    return readdirSync(join(this.#state, "fates")).length === this.#count;
  }

  /** True where a process is in an endless loop: it cannot say so itself. */
  #markLate(): boolean {
    const folder = join(this.#state, "running");
    return readdirSync(folder)
      .map((name) => {
        const text = runningIn(join(folder, name));
        const { id, untilMs } = text === "" ? { id: 0, untilMs: Number.POSITIVE_INFINITY } : JSON.parse(text);
        const isLate = Date.now() > untilMs;
        if (isLate) this.#decide(id, { verdict: "TIME", by: "no end" });
        return isLate;
      })
      .includes(true);
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

/** Empty where the file was deleted a moment ago. */
function runningIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
