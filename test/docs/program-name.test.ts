// The documents show the installed command, and once what stands for it in a clone.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");

/** Those that are about the clone. */
const IN_A_CLONE: ReadonlySet<string> = new Set(["CHANGELOG.md", "CONTRIBUTING.md", "development.md"]);

test("commands in documents and examples begin with brand-events-sync; README.md and settings.md name the clone's form once", () => {
  const documents = globSync(["*.md", "docs/*.md", "examples/**/*.{json,ts}"], { cwd: ROOT });
  const lines = documents
    .filter((path) => !IN_A_CLONE.has(basename(path)))
    .flatMap((path) =>
      readFileSync(join(ROOT, path), "utf8")
        .split("\n")
        .filter((line) => /npm run (?:-s )?sync -- /.test(line))
        .map(() => basename(path)),
    );

  expect(lines.toSorted()).toEqual(["README.md", "settings.md"]);
});
