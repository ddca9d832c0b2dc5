import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROGRAM_NAME, programName } from "../../../bin/cli/options/read-options.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.each([
  ["npm run sync --", "file:///clone/bin/cli/options/read-options.ts"],
  ["brand-events-sync", "file:///usr/lib/node_modules/brand-events-sync/dist/chunks/command-line.js"],
  [
    "/home/ann/.npm/_npx/b9c7/node_modules/.bin/brand-events-sync",
    "file:///home/ann/.npm/_npx/b9c7/node_modules/brand-events-sync/dist/chunks/command-line.js",
  ],
  [
    "'/home/ann lee/.npm/_npx/b9c7/node_modules/.bin/brand-events-sync'",
    "file:///home/ann%20lee/.npm/_npx/b9c7/node_modules/brand-events-sync/dist/chunks/command-line.js",
  ],
])("the program is called %s in %s", (name, file) => {
  expect(programName(file)).toBe(name);
});

test("these tests run in a clone", () => {
  expect(PROGRAM_NAME).toBe("npm run sync --");
});

test("no other file of the command line says how the program is started", () => {
  const files = globSync("bin/**/*.ts", { cwd: ROOT }).filter((path) =>
    /npm run sync|brand-events-sync (?:run|check|status)/.test(readFileSync(join(ROOT, path), "utf8")),
  );

  expect(files).toEqual([join("bin", "cli", "options", "read-options.ts")]);
});
