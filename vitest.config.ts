// How the tests run: test files that ask for it share one emulator of AWS.

import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: this is how vitest takes its configuration
export default defineConfig({
  test: {
    globalSetup: "test/aws/emulator-setup.ts",
    // Some tests start processes, and machines are shared.
    testTimeout: 60_000,
    // Its modules import each other without file endings, which Node itself refuses.
    server: { deps: { inline: ["dt-sql-parser"] } },
  },
});
