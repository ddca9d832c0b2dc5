// Plants each defect into a copy of the job, one by one, and lives seeds there until one of them finds it.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PUBLISHING_DEFECTS } from "./publishing-defects.ts";
import { SERVICE_DEFECTS } from "./service-defects.ts";

/** A known defect: one small change of the job, which the simulation must find. */
export interface PlantedDefect {
  /** What the job then does wrong. */
  readonly name: string;
  /** Below `lambdas/job`. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly from: string;
  readonly to: string;
  /** The first that finds it, when the histories were as they were then: it is tried first, to save time. */
  readonly seed: number;
  /** Whether this project had the defect once. */
  readonly isPast?: true;
}

export const PLANTED_DEFECTS: readonly PlantedDefect[] = [...PUBLISHING_DEFECTS, ...SERVICE_DEFECTS];

interface Search {
  /** The first seed that finds it; undefined where none does. */
  readonly seed: number | undefined;
  /** What the seed says. */
  readonly finding: string;
}

/** A defect is found by one of the first. */
const MOST_SEEDS = 2_000;

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** A copy of everything that the simulation needs. */
export class PlantedCopy implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "planted-"));

  constructor() {
    for (const part of [
      "lambdas",
      "test/simulation",
      "test/simulator",
      "test/fixtures",
      "test/job",
      "package.json",
    ]) {
      cpSync(join(ROOT, part), join(this.#folder, part), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(this.#folder, "node_modules"));
  }

  /**
   * Lives its own seed, and where that does not find it the first ones. Throws where it cannot be planted, because the source
   * has changed.
   */
  find(defect: PlantedDefect): Search {
    const own = this.#search(defect, defect.seed, defect.seed);
    return own.seed === undefined ? this.#search(defect, 1, MOST_SEEDS) : own;
  }

  #search(defect: PlantedDefect, from: number, to: number): Search {
    const file = join(this.#folder, "lambdas/job", defect.file);
    const source = readFileSync(file, "utf8");
    if (source.split(defect.from).length !== 2)
      throw new Error(`${defect.file} does not have this exactly once: ${defect.from}`);
    writeFileSync(
      file,
      source.replace(defect.from, () => defect.to),
    );
    try {
      const { stderr, status } = spawnSync(
        process.execPath,
        ["test/simulation/main.ts", "--seeds", `${from}..${to}`, "--brief"],
        { cwd: this.#folder, encoding: "utf8" },
      );
      const [, seed, finding = ""] = /Seed (\d+) breaks a promise: (.*)/.exec(stderr) ?? [];
      if (status !== 0 && seed === undefined) throw new Error(`${defect.name}: ${stderr}`);
      return { seed: seed === undefined ? undefined : Number(seed), finding };
    } finally {
      writeFileSync(file, source);
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
