// Writes the credentials of a new account, which only their owner may read, and the settings file. Replaces no credentials.

import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { parseSettings, readSettingsFile } from "../../../lambdas/job/settings-file/read-settings.ts";
import { fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { fileError, isErrno } from "../../../lambdas/job/storage/directory/file-error.ts";

interface AccountFiles {
  readonly credentials: { readonly path: string; readonly text: string };
  readonly settings: { readonly path: string; readonly text: string; readonly isNew: boolean };
}

/** Both files or none. Throws `CONFIG_INVALID` where one has appeared meanwhile, and `STORE_FAILED`. */
export async function writeAccountFiles({ credentials, settings }: AccountFiles): Promise<void> {
  const folder = dirname(credentials.path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(failed(folder));
  // Its folder may lie in a repository.
  if (made !== undefined) await create(join(folder, ".gitignore"), "*\n");
  await create(credentials.path, credentials.text);
  try {
    if (settings.isNew) await create(settings.path, settings.text, 0o644);
    else await replace(settings.path, settings.text);
  } catch (error) {
    await rm(credentials.path, { force: true });
    throw error;
  }
}

/** `init` is given another name, or the file is moved away. */
export function existsAlready(path: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `${path} exists already, and init replaces no file. Choose another name with --account, or move that file away. Nothing was written.`,
  );
}

async function create(path: string, text: string, mode = 0o600): Promise<void> {
  await writeFile(path, text, { flag: "wx", mode }).catch((error: unknown) => {
    if (isErrno(error, "EEXIST")) throw existsAlready(path);
    return failed(path)(error);
  });
}

async function replace(path: string, text: string): Promise<void> {
  const written = `${path}.new`;
  await create(written, text, 0o644);
  await rename(written, path).catch(async (error: unknown) => {
    await rm(written, { force: true });
    failed(path)(error);
  });
}

function failed(path: string): (error: unknown) => never {
  return (error) => {
    throw fileError(error, "write", path);
  };
}

/** The text of the settings file with one account more. */
interface SettingsPlace {
  /** As a person names it, for messages. */
  readonly title: string;
  readonly path: string;
}

interface NewAccount {
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

type WrittenSettings = z.infer<typeof written>;

/** Undefined where there is no file. Throws `CONFIG_INVALID` for one that is wrong, or has the account already. */
export function settingsBefore({ title, path }: SettingsPlace): WrittenSettings | undefined {
  const given = readSettingsFile(path, title);
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

/** Where the JSON Schema of the settings file is, which editors complete and check with. */
const NAME = "brand-events.schema.json";

/** In the folder of this program, or in one above this code. Undefined where a package leaves it out. */
export function schemaFile(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (dirname(folder) !== folder) {
    const file = join(folder, NAME);
    if (existsSync(file)) return file;
    folder = dirname(folder);
  }
  return undefined;
}
