// The settings of a deployment: as a person writes them, and as they are read, once, at synth, with a message for each
// wrong key. `cdk.json` has them under `context.eventSync`, or the path of a settings file. And the names that a deployment
// gives its resources.

import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import * as z from "zod";
import {
  checkedSettings,
  readSettingsFile,
  type SettingsSource,
  unusableSetting,
} from "../lambdas/job/settings-file/read-settings.ts";
import { ACCOUNT_SETTINGS } from "../lambdas/job/settings-file/settings.ts";
import {
  deploymentSettingsSchema,
  SHARED_SETTINGS,
  settingsFor,
} from "../lambdas/job/settings-file/settings-schema.ts";

const deployedAccount = z.object({
  ...settingsFor(ACCOUNT_SETTINGS, "both", "AWS"),
  schedule: ACCOUNT_SETTINGS.schedule.schema,
  baseUrl: ACCOUNT_SETTINGS.baseUrl.schema,
});
const shared = z.object(settingsFor(SHARED_SETTINGS, "both", "AWS"));

/** The package declares this type key by key: its users have no zod. */
export type EventSyncSettings = Immutable<z.input<typeof deploymentSettingsSchema>>;

type Immutable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
  : Value;

export type Settings = Readonly<z.output<typeof shared>> & {
  readonly accounts: Readonly<Record<string, Readonly<z.output<typeof deployedAccount>>>>;
};

const IN_CONTEXT: SettingsSource = { title: "cdk.json → context", keyPath: ["eventSync"] };

interface ParseSettingsOptions {
  /** The place of the settings in messages, unless they are in a file. */
  readonly source?: SettingsSource;
  /** The database's name, where the settings have none. */
  readonly database?: string | undefined;
}

/**
 * Throws an `Error` that names every wrong key, what was expected and what came. Settings that were parsed stay as they
 * are.
 * @param context the settings, or the path of a settings file
 */
export function parseSettings(context: unknown, options: ParseSettingsOptions = {}): Settings {
  const { source: inCode = IN_CONTEXT, database } = options;
  const isFile = typeof context === "string";
  const given = isFile ? readSettingsFile(resolve(context), context) : context;
  if (isFile && given === undefined) {
    throw unusableSetting(
      inCode,
      [],
      `expected an object, or the path of a settings file, and got ${JSON.stringify(context)}, where no file is`,
    );
  }
  const source = isFile ? { title: context, keyPath: [] } : inCode;
  const settings = checkedSettings(deploymentSettingsSchema, given, source);
  const accounts = Object.entries(settings.accounts).map(
    ([name, own]) => [name, { ...settings, ...own }] as const,
  );
  const without = accounts.flatMap(([name, { baseUrl }]) => (baseUrl === undefined ? [name] : []));
  if (without.length > 0) {
    throw unusableSetting(
      source,
      ["baseUrl"],
      `expected the address of the service such as https://api.example.com, here or for the account ${without.join(" and ")}, and got nothing`,
    );
  }
  const complete = accounts.map(([name, account]) => [name, deployedAccount.parse(account)] as const);
  return { ...shared.parse({ database, ...settings }), accounts: Object.fromEntries(complete) };
}

// The names that a deployment gives its resources, so that those of two deployments are never the same.

/** The CDK leaves this id out of logical ids, and these names leave it out too. */
export const DEFAULT_ID = "Default";

interface DeploymentNames {
  /** Of, or at the start of, everything that has a name in the AWS account, but for the following. */
  readonly name: string;
  /** The database where the settings name none. */
  readonly database: string;
  readonly metricNamespace: string;
  /** The outputs' names begin with it. */
  readonly outputPrefix: string;
}

const NAMESPACE = "BrandEventsSync";
/** The longest name of a schedule group; other resources take longer names. */
const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const PLAIN = /^[A-Za-z0-9-]+$/;

/** A deployment that is the only thing in its stack has the names of the stack; others add the ids of the constructs. */
export function deploymentNames(construct: Construct): DeploymentNames {
  const { stackName, ids } = placeOf(construct);
  const name = nameOf(stackName, ids);
  const isAlone = ids.length === 0;
  return {
    name,
    database: isAlone ? SHARED_SETTINGS.database.default : databaseOf(name),
    metricNamespace: isAlone ? NAMESPACE : `${NAMESPACE}/${name}`,
    outputPrefix: ids.join("").replaceAll(/[^A-Za-z0-9]/g, ""),
  };
}

/** From the outermost stack to the construct: the name of a nested one is not known before it is deployed. */
function placeOf({ node }: Construct): { readonly stackName: string; readonly ids: readonly string[] } {
  const at = node.scopes.findIndex((scope) => Stack.isStack(scope));
  const stack = node.scopes[at];
  if (!Stack.isStack(stack)) {
    throw new Error(`EventSync ${node.path}: expected a place in a stack, and got one outside of all stacks`);
  }
  const ids = node.scopes.slice(at + 1).map((scope) => scope.node.id);
  return { stackName: stack.stackName, ids: ids.filter((id) => id !== DEFAULT_ID) };
}

/**
 * `Platform_Events`. No stack has `_` in its name, so the name says where a construct is. An id with other characters
 * than letters, digits and `-`, or a name that is too long, gets a hash of all at its end.
 */
function nameOf(stackName: string, ids: readonly string[]): string {
  const parts = [stackName, ...ids];
  const name = parts.join("_");
  if (name.length <= MAX_LENGTH && parts.every((part) => PLAIN.test(part))) return name;
  const hash = createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, HASH_LENGTH);
  const start = parts.map((part) => part.replaceAll(/[^A-Za-z0-9-]/g, "")).join("_");
  return `${start.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}

/** `data_platform_events` for `DataPlatform_Events`. */
function databaseOf(name: string): string {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  return words.replaceAll("-", "_").toLowerCase();
}
