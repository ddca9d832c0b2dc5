// A clone made by Git for Windows has the bytes of this one: a deployment refuses sources with CRLF.

import { execFile } from "node:child_process";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);

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
