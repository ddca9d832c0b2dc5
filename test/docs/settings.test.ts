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

const OF_THE_SERVICE = ["check", "discover", "run"];

type Row = readonly string[];

test("the JSON Schema for editors is that of the settings file", async () => {
  const schema = { title: "Settings of brand-events-sync", ...settingsJsonSchema(fileSettingsSchema) };

  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot("../../brand-events.schema.json");
});

test("the page has every option and every key, with the words and defaults of the source", async () => {
  const before = readFileSync(new URL(PAGE, import.meta.url), "utf8");
  const options = Object.keys(OPTIONS) as OptionName[];
  const settings: Readonly<Record<string, Setting>> = { ...SHARED_SETTINGS, ...ACCOUNT_SETTINGS };
  const ofDeployment = (of: Readonly<Record<string, Setting>>): readonly Row[] =>
    Object.entries(of)
      .filter(([, { flag }]) => flag === undefined)
      .map(keyRow);

  const page = [
    ["### With a key in the files", options.filter((name) => name in settings).map(settingRow)] as const,
    ["### For one start", options.filter((name) => !(name in settings)).map(optionRow)] as const,
    ["### For all accounts", [accountsRow(), ...ofDeployment(SHARED_SETTINGS)]] as const,
    ["### For one account", ofDeployment(ACCOUNT_SETTINGS)] as const,
  ].reduce((text, [heading, rows]) => withRows(text, heading, rows), before);

  await expect(page).toMatchFileSnapshot(PAGE);
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

/** The page with these rows in the first table below the heading. */
function withRows(page: string, heading: string, rows: readonly Row[]): string {
  const table = new RegExp(`(\\n${heading}\\n[^|]*?\\n\\|[^\\n]*\\n\\|[-|]+\\|\\n)(?:\\|[^\\n]*\\n)*`);
  expect(page).toMatch(table);
  const lines = rows.map((row) => `| ${row.join(" | ")} |\n`).join("");
  return page.replace(table, (_, head: string) => head + lines);
}

function settingRow(name: OptionName): Row {
  const { help }: OptionSpec = OPTIONS[name];
  const fallback = defaultText(name);
  return [
    `\`--${longName(name)}\``,
    `\`${name}\``,
    fallback === undefined ? "none" : `\`${fallback}\``,
    commandsText(commandsOf(name)),
    String(help),
  ];
}

function optionRow(name: OptionName): Row {
  const { help }: OptionSpec = OPTIONS[name];
  const commands = commandsOf(name);
  if (typeof help === "object") expect(Object.keys(help).toSorted()).toEqual(commands.toSorted());
  const fallback = defaultText(name);
  const isSwitch = fallback === "false" || fallback === undefined;
  const meaning = typeof help === "string" ? help : helpOfEach(help);
  return [
    `\`--${longName(name)}\``,
    commandsText(commands),
    isSwitch ? meaning : `${meaning}. Default: \`${fallback}\``,
  ];
}

const commandsOf = (name: OptionName): readonly string[] =>
  COMMANDS.filter(({ options, ofEach = [] }) => [...options, ...ofEach].some((each) => each === name)).map(
    (command) => command.name,
  );

/** `service` stands for those that send requests to the service; few exceptions of all are named instead of the rest. */
function commandsText(commands: readonly string[]): string {
  const others = COMMANDS.map(({ name }) => name).filter((name) => !commands.includes(name));
  if (others.length === 0) return "all";
  if (others.length <= 4) return `all but ${others.join(", ")}`;
  const areAll = OF_THE_SERVICE.every((name) => commands.includes(name));
  if (!areAll) return commands.join(", ");
  return ["service", ...commands.filter((name) => !OF_THE_SERVICE.includes(name))].join(", ");
}

/** `run`: these words. Equal words stand once. */
function helpOfEach(help: Readonly<Record<string, string>>): string {
  const commandsBy = Map.groupBy(Object.keys(help), (command) => help[command]);
  return [...commandsBy]
    .map(([words = "", commands]) => {
      const names = commands.map((command) => `\`${command}\``).join(", ");
      return `${names}: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
    })
    .join(". ");
}

function keyRow([key, setting]: readonly [string, Setting]): Row {
  const isRequired = deploymentSettingsSchema.shape.accounts
    .safeParse({ uk: {} })
    .error?.issues.some(({ path }) => path.at(-1) === key);
  const fallback = setting.default === undefined ? "none" : `\`${JSON.stringify(setting.default)}\``;
  return [`\`${key}\``, isRequired ? "required" : fallback, setting.help];
}

function accountsRow(): Row {
  const { accounts } = fileSettingsSchema.shape;
  return ["`accounts`", "required", accounts.description ?? ""];
}
