// Writes the credentials of a new account, which only their owner may read, and the settings file. Replaces no credentials
// but those that `init` has written itself, while no check has passed with them.

import { existsSync, readFileSync } from "node:fs";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { members, rootSpan, valueAt } from "../../../lambdas/job/json/json-scanner.ts";
import { parseSettings, readSettingsFile } from "../../../lambdas/job/settings-file/read-settings.ts";
import { type FileSettings, fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";
import { fileError, isErrno } from "../../../lambdas/job/storage/directory/file-error.ts";

interface AccountFiles {
  readonly credentials: { readonly path: string; readonly text: string };
  readonly settings: { readonly path: string; readonly text: string; readonly isNew: boolean };
}

/** Of a new account both files or none. Throws `CONFIG_INVALID` where one has appeared meanwhile, and `STORE_FAILED`. */
export async function writeAccountFiles({ credentials, settings }: AccountFiles): Promise<void> {
  const { path, text } = credentials;
  const isAgain = isUnchecked(path) && existsSync(path);
  if (isAgain) await replace(path, text);
  else await createCredentials(path, text);
  try {
    if (settings.isNew) await create(settings.path, settings.text, 0o644);
    else await replace(settings.path, settings.text);
  } catch (error) {
    if (!isAgain) {
      await rm(path, { force: true });
      await credentialsWork(path);
    }
    throw error;
  }
}

async function createCredentials(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch(failed(folder));
  // Its folder may lie in a repository.
  if (made !== undefined) await create(join(folder, ".gitignore"), "*\n");
  await create(path, text);
  await writeFile(uncheckedMark(path), "", { mode: 0o600 }).catch(failed(path));
}

/** An empty file beside credentials that `init` has written, until a check or a run has worked with them. */
const uncheckedMark = (credentials: string): string => `${credentials}.unchecked`;

/** Whether `init` may write these credentials again. */
function isUnchecked(credentials: string): boolean {
  return existsSync(uncheckedMark(credentials));
}

/** @param credentials as `--credentials` has it; only a file has a mark */
export async function credentialsWork(credentials: string): Promise<void> {
  await rm(uncheckedMark(credentials), { force: true }).catch(() => undefined);
}

/** `init` is given another name, or the file is moved away. */
function existsAlready(path: string): SyncError {
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

/** Keeps the file's mode, and a link to it. */
export async function replace(link: string, text: string): Promise<void> {
  const path = await realpath(link).catch(failed(link));
  const { mode } = await stat(path).catch(failed(path));
  const written = `${path}.new`;
  await create(written, text);
  try {
    await chmod(written, mode);
    await rename(written, path);
  } catch (error) {
    await rm(written, { force: true });
    failed(path)(error);
  }
}

function failed(path: string): (error: unknown) => never {
  return (error) => {
    throw fileError(error, "write", path);
  };
}

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

/** The text of a settings file that is usable. */
interface SettingsBefore {
  readonly text: string;
  readonly settings: FileSettings;
}

/** Undefined where there is no file. Throws `CONFIG_INVALID` for one that is wrong. */
export function settingsBefore({ title, path }: SettingsPlace): SettingsBefore | undefined {
  const given = readSettingsFile(path, title);
  if (given === undefined) return undefined;
  const settings = parseSettings(fileSettingsSchema, given, { title, keyPath: [] });
  return { text: readFileSync(path, "utf8"), settings };
}

/** @param credentials where `init` would write those of the account */
export function refuseKnownAccount(
  before: SettingsBefore | undefined,
  { account, credentials }: Pick<NewAccount, "account" | "credentials">,
  { title }: SettingsPlace,
): void {
  if (isUnchecked(credentials)) return;
  if (before !== undefined && Object.hasOwn(before.settings.accounts, account)) {
    throw new SyncError(
      "CONFIG_INVALID",
      `${title} has the account ${account} already, and init changes no account. Choose another name with --account, or change the account in ${title} with an editor. Nothing was written.`,
    );
  }
  if (existsSync(credentials)) throw existsAlready(credentials);
}

/** The text of the settings file with this account. What a person wrote stays as it stands there. */
export function settingsWith(
  before: SettingsBefore | undefined,
  added: NewAccount,
  { path }: SettingsPlace,
): string {
  const { account, baseUrl, authUrl, schema } = added;
  const { text, settings } = before ?? {};
  const own = {
    ...(settings?.baseUrl === baseUrl ? {} : { baseUrl }),
    ...(authUrl === undefined || settings?.authUrl === authUrl ? {} : { authUrl }),
    credentials: beside(path, added.credentials),
  };
  if (text !== undefined) return textWith(text, account, own);
  const $schema = schema && fromFolderOf(path, schema);
  const made = {
    ...($schema === undefined ? {} : { $schema }),
    warehouse: beside(path, added.warehouse),
    accounts: { [account]: own },
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

/** In the place of the account if it is there, else after the last one; indented as the others are. */
function textWith(text: string, account: string, own: object): string {
  const root = rootSpan(text, text.startsWith("\uFEFF") ? 1 : 0);
  const accounts = valueAt(text, ["accounts"], root);
  const all = accounts === undefined ? [] : [...members(text, accounts)];
  const last = all.at(-1);
  if (accounts === undefined || last === undefined) throw new Error("a usable file has accounts");
  const [, newline = "", indent = ""] =
    /^\{(\r?\n)([ \t]*)/.exec(text.slice(accounts.start, accounts.end)) ?? [];
  const [, step = "  "] = /\n([ \t]+)/.exec(text) ?? [];
  const there = all.find(({ key }) => key === account)?.value;
  const before: Readonly<Record<string, unknown>> = there
    ? JSON.parse(text.slice(there.start, there.end))
    : {};
  const others = Object.entries(before).filter(([key]) => !OWN_KEYS.has(key));
  const settings = { ...own, ...Object.fromEntries(others) };
  const value =
    newline === ""
      ? JSON.stringify(settings)
      : JSON.stringify(settings, null, step).replaceAll("\n", `${newline}${indent}`);
  if (there) return `${text.slice(0, there.start)}${value}${text.slice(there.end)}`;
  const { end } = last.value;
  const entry = `,${newline === "" ? " " : `${newline}${indent}`}${JSON.stringify(account)}: ${value}`;
  return `${text.slice(0, end)}${entry}${text.slice(end)}`;
}

/** What `init` says of an account. Every other key of one that it writes again is a person's. */
const OWN_KEYS: ReadonlySet<string> = new Set(["baseUrl", "authUrl", "credentials"]);

/** A path below the file's folder starts from there; every other stays absolute. */
function beside(path: string, place: string): string {
  if (!isAbsolute(place)) return place;
  const from = fromFolderOf(path, place);
  return from?.startsWith("./") ? from : place;
}

/** Undefined on another drive. */
function fromFolderOf(path: string, place: string): string | undefined {
  const from = relative(dirname(path), place).split(sep).join("/");
  if (isAbsolute(from)) return undefined;
  return from.startsWith("../") ? from : `./${from}`;
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
