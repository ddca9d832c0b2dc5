// A real browser for tests: Chromium, driven by playwright-core.

import { type Browser, chromium } from "playwright-core";
import { describe } from "vitest";
import { installedChromium } from "./installed-chromium.ts";

const executablePath = installedChromium();
const isSkipped = executablePath === undefined && process.env["CI"] !== "true";
if (isSkipped) {
  process.stderr.write(
    "The tests in a browser are skipped, because no Chromium is installed: npm run setup:browser\n",
  );
}

/** `describe` for tests that need a browser: they are skipped where there is none, and fail with `CI=true`. */
export const inBrowser = describe.skipIf(isSkipped);

export async function startBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error("no Chromium is installed: npm run setup:browser");
  // Without Chromium's sandbox, which starts neither for root nor in most containers: only pages of the tests are opened.
  return chromium.launch({ executablePath, chromiumSandbox: false });
}
