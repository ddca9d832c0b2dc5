import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeDirectory } from "../../../../lambdas/job/storage/directory/durable-file.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

describe("makeDirectory", () => {
  it("makes a directory and its parents, also where many callers do so at once", async () => {
    for (let round = 0; round < 20; round += 1) {
      const root = await temporaryDirectory();
      const path = join(root, "a", "b", "c");

      await Promise.all(Array.from({ length: 30 }, () => makeDirectory(path, 0o700)));

      expect((await stat(path)).isDirectory()).toBe(true);
    }
  });
});
