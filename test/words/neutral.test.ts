// No text of the job says how a thing is spelled at one place: no option, no command, no key of a file, no service of AWS.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ACCOUNT_SETTINGS } from "../../lambdas/job/settings-file/settings.ts";
import { SHARED_SETTINGS } from "../../lambdas/job/settings-file/settings-schema.ts";

const ROOT = join(import.meta.dirname, "../../lambdas/job");

/** The settings themselves, and what speaks to AWS or writes for DuckDB alone. */
const OF_ONE_PLACE =
  /^(?:settings|settings-file)\/|(?:^|\/)(?:s3|glue|duckdb)\/|secrets-manager|step-functions|aws-(?:client|error)/;

/** What a person may read: strings with a space in them, without what is put between their words. */
const TEXTS = globSync("**/*.ts", { cwd: ROOT })
  .filter((path) => !OF_ONE_PLACE.test(path))
  .flatMap((path) => {
    const code = readFileSync(join(ROOT, path), "utf8")
      .replaceAll(/^\s*(?:\/\/|\/?\*).*$/gm, "")
      .replaceAll(/\s\/\/ .*$/gm, "");
    const texts = code.match(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g) ?? [];
    return texts
      .map((text) => ({ path, text: text.replaceAll(/\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}/g, "…") }))
      .filter(({ text }) => text.includes(" "));
  });

const KEYS = Object.keys({ ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS }).filter((key) => /[A-Z]/.test(key));

test.each<[string, RegExp]>([
  ["an option", /--[a-z]/],
  ["a command", /\b(?:use|run|start) (?:accept|authorize|check|diff|retire|rollback|remove|status)\b/i],
  ["a variable of the command line", /\bBRAND_[A-Z]/],
  ["a key of the settings", new RegExp(`\\b(?:${KEYS.join("|")})\\b`)],
  ["a file of settings", /cdk\.json|brand-events\.json/],
  ["the program", /\bbrand-events-sync [a-z]+ /],
  [
    "AWS",
    /\bAWS\b|\baws [a-z]|Lambda\b|EventBridge|CloudWatch|Step Functions|Secrets Manager|\bGlue\b|\bS3\b/,
  ],
])("no text of the job names %s", (_, pattern) => {
  const found = TEXTS.filter(({ text }) => pattern.test(text)).map(({ path, text }) => `${path}: ${text}`);

  expect(found).toEqual([]);
});

test("texts are found", () => {
  expect(TEXTS.length).toBeGreaterThan(300);
});
