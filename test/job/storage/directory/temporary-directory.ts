// An empty directory for one test, gone when the test is.

import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "brand-events-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A pipe with a name: opening it waits for another process. */
export function makeFifo(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
}
