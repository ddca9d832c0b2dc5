// What GitHub runs for this repository: pinned, with few rights, and the same commands as for a person.

import { accessSync, constants, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../..");
const files = globSync(".github/workflows/*.yml", { cwd: ROOT });
const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");

function all(pattern: RegExp): readonly string[] {
  return [...texts.matchAll(pattern)].map(([, found = ""]) => found);
}

test("every action is a commit, with its version beside it", () => {
  const used = all(/\buses: (.*)$/gm);

  expect(used).not.toEqual([]);
  expect(used.filter((one) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
});

test("all read only, but for the proof of where a package comes from", () => {
  expect(all(/^permissions:\n {2}(.*)$/gm)).toEqual(files.map(() => "contents: read"));
  expect(all(/^ *([\w-]+: write)$/gm)).toEqual(["id-token: write"]);
});

test("they run what a person runs", () => {
  const commands = all(/^ *- run: (.*)$/gm).filter((command) => !command.startsWith("test "));

  expect([...new Set(commands)].toSorted()).toEqual([".ci/run", "npm ci", "npm publish", "npm test"]);
  expect(() => accessSync(join(ROOT, ".ci/run"), constants.X_OK)).not.toThrow();
  expect(packageJson.publishConfig.provenance).toBe(true);
});
