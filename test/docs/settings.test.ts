// docs/settings.md and brand-events.schema.json say what the table of settings says.
// `npx vitest run test/docs/settings.test.ts -u` writes both again.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { settingsJsonSchema } from "../../bin/build-program.ts";
import { COMMANDS } from "../../bin/cli/main.ts";
import {
  defaultText,
  longName,
  OPTIONS,
  type OptionName,
  type OptionSpec,
} from "../../bin/cli/options/options.ts";
import { ACCOUNT_SETTINGS, type Setting } from "../../lambdas/job/settings-file/settings.ts";
import {
  deploymentSettingsSchema,
  fileSettingsSchema,
  SHARED_SETTINGS,
} from "../../lambdas/job/settings-file/settings-schema.ts";

const PAGE = "../../docs/settings.md";

test("the JSON Schema for editors is that of the settings file", async () => {
  const schema = { title: "Settings of brand-events-sync", ...settingsJsonSchema(fileSettingsSchema) };

  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot("../../brand-events.schema.json");
});

test("the page has every option and every key, with the words and defaults of the source", async () => {
  const before = readFileSync(new URL(PAGE, import.meta.url), "utf8");
  const options = Object.keys(OPTIONS) as OptionName[];
  const settings: Readonly<Record<string, Setting>> = { ...SHARED_SETTINGS, ...ACCOUNT_SETTINGS };
  const ofDeployment = (of: Readonly<Record<string, Setting>>): readonly string[] =>
    Object.entries(of)
      .filter(([, { flag }]) => flag === undefined)
      .map(keyLine);

  const page = [
    ["### With a key in the files", options.filter((name) => name in settings).map(settingLine)] as const,
    ["### For one start", [namesOf(options.filter((name) => !(name in settings)))]] as const,
    ["### For all accounts", [accountsLine(), ...ofDeployment(SHARED_SETTINGS)]] as const,
    ["### For one account", ofDeployment(ACCOUNT_SETTINGS)] as const,
  ].reduce((text, [heading, lines]) => withLines(text, heading, lines), before);

  await expect(page).toMatchFileSnapshot(PAGE);
});

test("an option that means another thing for each command says it for each that has it", () => {
  for (const name of Object.keys(OPTIONS) as OptionName[]) {
    const { help }: OptionSpec = OPTIONS[name];
    if (typeof help === "object") expect(Object.keys(help).toSorted()).toEqual(commandsOf(name).toSorted());
  }
});

test("the page names the keys that a deployment ignores", () => {
  const [, named = ""] =
    /A deployment checks and ignores (.*?); a laptop/.exec(
      readFileSync(new URL(PAGE, import.meta.url), "utf8"),
    ) ?? [];

  const ofLaptop = Object.entries<Setting>({ ...SHARED_SETTINGS, ...ACCOUNT_SETTINGS }).filter(
    ([, { where }]) => where === "laptop",
  );
  expect([...named.matchAll(/`(\w+)`/g)].map(([, key]) => key)).toEqual(ofLaptop.map(([key]) => key));
});

/** The page with these lines in the first list below the heading. */
function withLines(page: string, heading: string, lines: readonly string[]): string {
  const list = new RegExp(`(\\n${heading}\\n(?:(?!#|- ).*\\n)*)(?:- .*\\n)+`);
  expect(page).toMatch(list);
  return page.replace(list, (_, head: string) => head + lines.map((line) => `- ${line}\n`).join(""));
}

/** `--limit-window`, `limitWindowSeconds` (default `60`): what it means. */
function settingLine(name: OptionName): string {
  const { help }: OptionSpec = OPTIONS[name];
  const fallback = defaultText(name);
  const inBrackets = fallback === undefined ? "" : ` (default \`${fallback}\`)`;
  return `\`--${longName(name)}\`, \`${name}\`${inBrackets}: ${String(help)}`;
}

/** What they mean, and which commands take them, is said by `--help`. */
const namesOf = (names: readonly OptionName[]): string =>
  names.map((name) => `\`--${longName(name)}\``).join(", ");

const commandsOf = (name: OptionName): readonly string[] =>
  COMMANDS.filter(({ options, ofEach = [] }) => [...options, ...ofEach].some((each) => each === name)).map(
    (command) => command.name,
  );

function keyLine([key, setting]: readonly [string, Setting]): string {
  const isRequired = deploymentSettingsSchema.shape.accounts
    .safeParse({ uk: {} })
    .error?.issues.some(({ path }) => path.at(-1) === key);
  const fallback = setting.default === undefined ? "" : ` (default \`${JSON.stringify(setting.default)}\`)`;
  return `\`${key}\`${isRequired ? " (required)" : fallback}: ${setting.help}`;
}

function accountsLine(): string {
  const { accounts } = fileSettingsSchema.shape;
  return `\`accounts\` (required): ${accounts.description ?? ""}`;
}
