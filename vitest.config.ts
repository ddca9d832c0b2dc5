// How the tests run: `local` needs nothing but this machine; `long`, the files named `*.long.test.ts`, as well, but
// takes more time than a person waits for; `aws`, `*.aws.test.ts`, shares one emulator of AWS. `npm test` runs the
// first, `npm run check` all; the first with coverage, which doubles the time of what computes for long.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";

const AWS = "test/**/*.aws.test.ts";
const LONG = "test/**/*.long.test.ts";

/**
 * Of the many processes of the long tests: most load the same files, which takes half of their time. The quick ones
 * share a process, which would write at its end what nothing reads.
 */
const compiled = mkdtempSync(join(tmpdir(), "brand-events-compiled-"));
process.once("exit", () => rmSync(compiled, { recursive: true, force: true }));

// biome-ignore lint/style/noDefaultExport: this is how vitest takes its configuration
export default defineConfig({
  test: {
    // Some tests start processes, and machines are shared.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    // An earlier version of the job is not what the tests are to cover.
    coverage: { exclude: ["test/fixtures/job-*/**"] },
    // Node loads the sources as it does for a user, which is also quicker. No test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      // No test replaces a module or a global, so files share a process and the modules that it has loaded.
      {
        extends: true,
        test: { name: "local", include: ["test/**/*.test.ts"], exclude: [AWS, LONG], isolate: false },
      },
      { extends: true, test: { name: "long", include: [LONG], env: { NODE_COMPILE_CACHE: compiled } } },
      {
        extends: true,
        test: {
          name: "aws",
          include: [AWS],
          env: { NODE_COMPILE_CACHE: compiled },
          globalSetup: "test/aws/emulator-process.ts",
        },
      },
    ],
  },
});
