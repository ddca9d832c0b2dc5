// `npm run messages`: all words of the program in one go, to be read: each command's help as it prints it, and every text
// of its sources with its place.

import { execFile } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { textsOf } from "./texts.ts";

const ROOT = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

async function helpOf(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(ROOT, "bin/sync.ts"), ...args, "--help"]);
  return stdout;
}

const help = await helpOf();
process.stdout.write(help);
for (const [, name = ""] of help.matchAll(/^ {2}([a-z]+) /gm))
  if (name !== "help") process.stdout.write(`\n${await helpOf(name)}`);

for (const path of globSync("{bin,lambdas,lib}/**/*.ts", { cwd: ROOT }).toSorted()) {
  const texts = textsOf(readFileSync(join(ROOT, path), "utf8"));
  if (texts.length > 0) process.stdout.write(`\n${path}\n`);
  for (const { line, text } of texts) process.stdout.write(`${String(line).padStart(5)}  ${text}\n`);
}
