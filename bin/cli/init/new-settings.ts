// The text of the settings file with one account more.

import { dirname, isAbsolute, relative, sep } from "node:path";
import * as z from "zod";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { parseSettings } from "../../../lambdas/job/settings-file/parse-settings.ts";
import { readSettingsFile } from "../../../lambdas/job/settings-file/read-settings-file.ts";
import { fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";

export interface SettingsPlace {
  /** As a person names it, for messages. */
  readonly title: string;
  readonly path: string;
}

export interface NewAccount {
  readonly account: string;
  readonly baseUrl: string;
  readonly authUrl: string | undefined;
  /** Absolute. */
  readonly credentials: string;
  /** Absolute, or a place in AWS; for a file that is new. */
  readonly warehouse: string;
  readonly schema: string | undefined;
}

/** As it stands there, once it is known to be usable: what the person wrote stays as it is. */
const written = z.looseObject({ accounts: z.looseObject({}) });

export type WrittenSettings = z.infer<typeof written>;

/** Undefined where there is no file. Throws `CONFIG_INVALID` for one that is wrong, or has the account already. */
export function settingsBefore({ title, path }: SettingsPlace): WrittenSettings | undefined {
  const given = readSettingsFile(path);
  if (given === undefined) return undefined;
  parseSettings(fileSettingsSchema, given, { title, keyPath: [] });
  return written.parse(given);
}

export function refuseKnownAccount(
  before: WrittenSettings | undefined,
  account: string,
  { title }: SettingsPlace,
): void {
  if (before === undefined || !Object.hasOwn(before.accounts, account)) return;
  throw new SyncError(
    "CONFIG_INVALID",
    `${title} has the account ${account} already, and init changes no account. Choose another name with --account, or change the account in ${title} with an editor. Nothing was written.`,
  );
}

export function settingsWith(
  before: WrittenSettings | undefined,
  added: NewAccount,
  { path }: SettingsPlace,
): string {
  const { account, baseUrl, authUrl, schema } = added;
  const own = {
    ...(before?.["baseUrl"] === baseUrl ? {} : { baseUrl }),
    ...(authUrl === undefined || before?.["authUrl"] === authUrl ? {} : { authUrl }),
    credentials: beside(path, added.credentials),
  };
  const beginning = before ?? {
    ...(schema === undefined ? {} : { $schema: beside(path, schema) }),
    warehouse: beside(path, added.warehouse),
  };
  const settings = { ...beginning, accounts: { ...before?.accounts, [account]: own } };
  return `${JSON.stringify(settings, null, 2)}\n`;
}

/** A path below the file's folder starts from there; every other stays absolute. */
function beside(path: string, place: string): string {
  if (!isAbsolute(place)) return place;
  const from = relative(dirname(path), place).split(sep).join("/");
  return from.startsWith("../") || isAbsolute(from) ? place : `./${from}`;
}
