// The settings of a deployment: as a person writes them, and as they are read, once, at synth, with a message for each
// wrong key. `cdk.json` has them under `context.eventSync`, or the path of a settings file.

import { resolve } from "node:path";
import * as z from "zod";
import {
  parseSettings as parse,
  readSettingsFile,
  type SettingsSource,
  unusableSetting,
} from "../lambdas/job/settings-file/read-settings.ts";
import { ACCOUNT_SETTINGS } from "../lambdas/job/settings-file/settings.ts";
import { deploymentSettingsSchema, settingsFor } from "../lambdas/job/settings-file/settings-schema.ts";
import { SHARED_SETTINGS } from "../lambdas/job/settings-file/shared-settings.ts";

const deployedAccount = z.object({
  ...settingsFor(ACCOUNT_SETTINGS, "both", "AWS"),
  schedule: ACCOUNT_SETTINGS.schedule.schema,
});
const shared = z.object(settingsFor(SHARED_SETTINGS, "both", "AWS"));

/** The package declares this type key by key: its users have no zod. */
export type EventSyncSettings = Immutable<z.input<typeof deploymentSettingsSchema>>;

type Immutable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
  : Value;

type DeployedAccount = Readonly<Omit<z.output<typeof deployedAccount>, "baseUrl">> & {
  readonly baseUrl: string;
};
export type Settings = Readonly<z.output<typeof shared>> & {
  readonly accounts: Readonly<Record<string, DeployedAccount>>;
};

const IN_CONTEXT: SettingsSource = { title: "cdk.json → context", keyPath: ["eventSync"] };

interface ParseSettingsOptions {
  /** The place of the settings in messages, unless they are in a file. */
  readonly source?: SettingsSource;
  /** What the path of a settings file starts from. */
  readonly directory?: string;
  /** The database's name, where the settings have none. */
  readonly database?: string | undefined;
}

/**
 * Throws an `Error` that names every wrong key, what was expected and what came. Settings that were parsed stay as they
 * are.
 * @param context the settings, or the path of a settings file
 */
export function parseSettings(context: unknown, options: ParseSettingsOptions = {}): Settings {
  const { source: inCode = IN_CONTEXT, directory = ".", database } = options;
  const { given, source } =
    typeof context === "string" ? inFile(context, directory, inCode) : { given: context, source: inCode };
  const settings = parse(deploymentSettingsSchema, given, source);
  const accounts = Object.entries(settings.accounts).map(
    ([name, own]) => [name, deployedAccount.parse({ ...settings, ...own })] as const,
  );
  const withAddress = accounts.flatMap(([name, { baseUrl, ...account }]) =>
    baseUrl === undefined ? [] : [[name, { ...account, baseUrl }] as const],
  );
  if (withAddress.length === accounts.length) {
    return { ...shared.parse({ database, ...settings }), accounts: Object.fromEntries(withAddress) };
  }
  const without = accounts.flatMap(([name, { baseUrl }]) => (baseUrl === undefined ? [name] : []));
  throw unusableSetting(
    source,
    ["baseUrl"],
    `expected the address of the service such as https://api.example.com, here or for the account ${without.join(" and ")}, and got nothing`,
  );
}

function inFile(
  path: string,
  directory: string,
  inCode: SettingsSource,
): { readonly given: unknown; readonly source: SettingsSource } {
  const given = readSettingsFile(resolve(directory, path), path);
  if (given !== undefined) return { given, source: { title: path, keyPath: [] } };
  throw unusableSetting(
    inCode,
    [],
    `expected an object, or the path of a settings file, and got ${JSON.stringify(path)}, where no file is`,
  );
}
