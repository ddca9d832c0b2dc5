// An empty directory for one test, gone when the test is.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "brand-events-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
