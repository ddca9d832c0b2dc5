// No credentials that the documents teach to write can be committed by accident.

import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { OPTIONS } from "../../bin/cli/options/options.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
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

/** Those of the paths that git ignores by the project's own rules, in order. */
async function ignored(paths: readonly string[]): Promise<readonly string[]> {
  const cwd = await temporaryDirectory();
  await run("git", ["init", "--quiet"], { cwd });
  await copyFile(join(ROOT, ".gitignore"), join(cwd, ".gitignore"));
  const { stdout } = await run("git", ["-c", "core.excludesFile=", "check-ignore", ...paths], { cwd });
  return stdout.trimEnd().split("\n");
}
