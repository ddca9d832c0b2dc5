import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RUN_OPTIONS } from "../../../bin/cli/options/options.ts";
import { commandLineText, GivenOptions } from "../../../bin/cli/options/read-options.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const NAMES = ["config", "account", ...RUN_OPTIONS] as const;

test.each([
  ["what the file says", {}, "run"],
  ["the same as the file", { require: ["/date", "/it's"] }, "run"],
  ["other fields", { require: ["/date", "/two words"] }, "run --require /date --require '/two words'"],
  ["a limit of growth", { maxGrowth: "50" }, "run --max-growth 50"],
])("a command to paste has %s", async (_, given, expected) => {
  const cwd = await temporaryDirectory();
  const settings = { require: ["/date", "/it's"], accounts: { uk: {} } };
  writeFileSync(join(cwd, "brand-events.json"), JSON.stringify(settings));
  const values = new GivenOptions(given, {}, cwd).withFile().read(NAMES);

  const text = commandLineText(["run"], NAMES, values);

  const [command = "", ...options] = expected.split(" ");
  const named = [command, "--config", join(cwd, "brand-events.json"), ...options];
  expect(text.endsWith(` -- ${named.join(" ")}`)).toBe(true);
});
