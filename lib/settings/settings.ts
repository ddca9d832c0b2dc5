// What `cdk.json` says under `context.eventSync`: the settings, or the path of a settings file. Read once, at synth,
// with a message for each wrong key.

import { resolve } from "node:path";
import { z } from "zod";
import { accountKeys, schedule } from "../../lambdas/job/settings-file/account-keys.ts";
import {
  keyIn,
  parseSettings as parse,
  type SettingsSource,
  unusableSettings,
} from "../../lambdas/job/settings-file/parse-settings.ts";
import { readSettingsFile } from "../../lambdas/job/settings-file/read-settings-file.ts";
import { deploymentSettingsSchema } from "../../lambdas/job/settings-file/settings-schema.ts";
import { sharedKeys } from "../../lambdas/job/settings-file/shared-keys.ts";

const { warehouse, credentials, tokens, notifyUrl, notifyOn, ...deployed } = accountKeys.shape;

const deployedAccount = z.object({ schedule, ...deployed });
const shared = z.object(sharedKeys.shape);

export type DeployedAccount = Readonly<Omit<z.output<typeof deployedAccount>, "baseUrl">> & {
  readonly baseUrl: string;
};
export type Settings = Readonly<z.output<typeof shared>> & {
  readonly accounts: Readonly<Record<string, DeployedAccount>>;
};

const IN_CONTEXT: SettingsSource = { title: "cdk.json → context", keyPath: ["eventSync"] };

/**
 * Throws an `Error` that names every wrong key, what was expected and what came.
 * @param directory what the path of a settings file starts from
 */
export function parseSettings(context: unknown, directory = "."): Settings {
  const { given, source } = typeof context === "string" ? inFile(context, directory) : inContext(context);
  const settings = parse(deploymentSettingsSchema, given, source);
  const accounts = Object.entries(settings.accounts).map(
    ([name, own]) => [name, deployedAccount.parse({ ...settings, ...own })] as const,
  );
  const withAddress = accounts.flatMap(([name, { baseUrl, ...account }]) =>
    baseUrl === undefined ? [] : [[name, { ...account, baseUrl }] as const],
  );
  if (withAddress.length === accounts.length) {
    return { ...shared.parse(settings), accounts: Object.fromEntries(withAddress) };
  }
  const without = accounts.flatMap(([name, { baseUrl }]) => (baseUrl === undefined ? [name] : []));
  throw unusableSettings(source, [
    `${keyIn(source, ["baseUrl"])}: expected the address of the service such as https://api.example.com, here or for the account ${without.join(" and ")}, and got nothing`,
  ]);
}

interface Given {
  readonly given: unknown;
  readonly source: SettingsSource;
}

function inContext(given: unknown): Given {
  return { given, source: IN_CONTEXT };
}

function inFile(path: string, directory: string): Given {
  const given = readSettingsFile(resolve(directory, path));
  if (given !== undefined) return { given, source: { title: path, keyPath: [] } };
  throw unusableSettings(IN_CONTEXT, [
    `${keyIn(IN_CONTEXT, [])}: expected an object, or the path of a settings file, and got ${JSON.stringify(path)}, where no file is`,
  ]);
}
