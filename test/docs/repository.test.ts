// What Git and GitHub do with this repository: credentials cannot be committed by accident, a clone made by Git for Windows
// has the bytes of this one, and workflows are pinned, with few rights, and the same commands as for a person.

import { execFile } from "node:child_process";
import { accessSync, constants, globSync, readFileSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { OPTIONS } from "../../bin/cli/options/options.ts";
import packageJson from "../../package.json" with { type: "json" };
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

/** How documents, examples and the demonstration name a file with credentials or tokens. */
const CREDENTIALS =
  /(?:--credentials |--tokens |chmod 600 |--secret-string file:\/\/|> )(?<path>[\w./<>-]+\.json)/g;

test("git ignores every credentials file that the documents name", async () => {
  const documents = globSync(["*.md", "docs/**/*.md", "bin/demo.ts", "lib/outputs.ts"], { cwd: ROOT });
  const texts = documents.map((name) => readFileSync(join(ROOT, name), "utf8"));
  const named = texts.flatMap((text) =>
    [...text.matchAll(CREDENTIALS)].map(({ groups }) => groups?.["path"] ?? ""),
  );

  const paths = new Set([OPTIONS.credentials.default, ...named]);

  expect(paths).toContain("credentials/uk.json");
  expect(await ignored([...paths])).toEqual([...paths]);
});

test("git ignores what the command line writes beside the project, and none of its sources", async () => {
  const written = [
    "uk.tokens.json",
    "uk.tokens.json.lock",
    ".new-uk.tokens.json",
    "credentials/uk.tokens.json",
    "warehouse/views.sql",
    "demo-warehouse/views.sql",
    "dist/brand-events-sync.js",
    "brand-events-sync-0.1.0.tgz",
  ];
  const sources = [
    "lambdas/job/credentials/credentials.ts",
    "test/job/credentials/credentials.test.ts",
    "package.json",
  ];

  expect(await ignored([...written, ...sources])).toEqual(written);
});

test("git writes texts with LF even where it is set up to write CRLF", async () => {
  const cwd = await temporaryDirectory();
  const git = (...args: readonly string[]) => run("git", ["-c", "core.autocrlf=true", ...args], { cwd });
  const file = join(cwd, "some.sql");
  await git("init", "--quiet");
  await copyFile(join(ROOT, ".gitattributes"), join(cwd, ".gitattributes"));
  await writeFile(file, "-- Title\n-- Description\n");
  await git("add", ".");
  await rm(file);

  await git("checkout", "--", "some.sql");

  expect(await readFile(file, "utf8")).toBe("-- Title\n-- Description\n");
});

describe("the workflows", () => {
  const files = globSync(".github/workflows/*.yml", { cwd: ROOT });
  const texts = files.map((file) => readFileSync(join(ROOT, file), "utf8")).join("\n");

  function all(pattern: RegExp): readonly string[] {
    return [...texts.matchAll(pattern)].map(([, found = ""]) => found);
  }

  test("name every action as a commit, with its version beside it", () => {
    const used = all(/\buses: (.*)$/gm);

    expect(used).not.toEqual([]);
    expect(used.filter((one) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(one))).toEqual([]);
  });

  test("read only, but for the proof of where a package comes from", () => {
    expect(all(/^permissions:\n {2}(.*)$/gm)).toEqual(files.map(() => "contents: read"));
    expect(all(/^ *([\w-]+: write)$/gm)).toEqual(["id-token: write"]);
  });

  test("run what a person runs", () => {
    const commands = all(/^ *- run: (.*)$/gm).filter((command) => !command.startsWith("test "));

    expect([...new Set(commands)].toSorted()).toEqual([".ci/run", "npm ci", "npm publish", "npm test"]);
    expect(() => accessSync(join(ROOT, ".ci/run"), constants.X_OK)).not.toThrow();
    expect(packageJson.publishConfig.provenance).toBe(true);
  });
});

/** The paths that git ignores, of the given ones, by the project's own rules, in order. */
async function ignored(paths: readonly string[]): Promise<readonly string[]> {
  const cwd = await temporaryDirectory();
  await run("git", ["init", "--quiet"], { cwd });
  await copyFile(join(ROOT, ".gitignore"), join(cwd, ".gitignore"));
  const { stdout } = await run("git", ["-c", "core.excludesFile=", "check-ignore", ...paths], { cwd });
  return stdout.trimEnd().split("\n");
}
