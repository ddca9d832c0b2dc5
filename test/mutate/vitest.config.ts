// How tests run against mutations: as in `npm test`, but by a runner of our own, and one test at a time.

import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: this is how vitest takes its configuration
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    isolate: false,
    maxConcurrency: 1,
    testTimeout: 600_000,
    cache: false,
    experimental: { viteModuleRunner: false, nodeLoader: false },
    runner: "test/mutate/mutant-runner.ts",
  },
});
