// The text of the settings file that `init` makes or extends. What a person wrote stays as it stands there.

import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FoundSetting } from "../../../lambdas/job/commands/check-service.ts";
import { members, rootSpan, valueAt } from "../../../lambdas/job/json/json-scanner.ts";
import { checkedSettings, readSettingsFile } from "../../../lambdas/job/settings-file/read-settings.ts";
import { type FileSettings, fileSettingsSchema } from "../../../lambdas/job/settings-file/settings-schema.ts";
import type { OptionValues } from "../options/options.ts";

/** The text of a settings file that is usable. */
export interface SettingsBefore {
  readonly text: string;
  readonly settings: FileSettings;
}

/** Undefined where there is no file. Throws `CONFIG_INVALID` for one that is wrong. */
export function settingsBefore(path: string, title: string): SettingsBefore | undefined {
  const given = readSettingsFile(path, title);
  if (given === undefined) return undefined;
  const settings = checkedSettings(fileSettingsSchema, given, { title, keyPath: [] });
  return { text: readFileSync(path, "utf8"), settings };
}

/** The addresses of a new account, unless a person says otherwise: where accounts differ, those of the last one. */
export function addressesIn(before: SettingsBefore | undefined): Pick<FileSettings, "baseUrl" | "authUrl"> {
  const { baseUrl, authUrl, accounts = {} } = before?.settings ?? {};
  const last = Object.values(accounts).at(-1);
  return { baseUrl: last?.baseUrl ?? baseUrl, authUrl: last?.authUrl ?? authUrl };
}

/** The places of an account are absolute, or in AWS. The warehouse and the schema are for a file that is new. */
type NewAccount = OptionValues<"account" | "authUrl" | "warehouse"> & {
  readonly schema: string | undefined;
  readonly baseUrl: string;
  readonly credentials: string;
};

/** With this account. */
export function settingsWith(before: SettingsBefore | undefined, added: NewAccount, path: string): string {
  const { account, baseUrl, authUrl } = added;
  const { text, settings } = before ?? {};
  const own = {
    ...(settings?.baseUrl === baseUrl ? {} : { baseUrl }),
    ...(authUrl === undefined || settings?.authUrl === authUrl ? {} : { authUrl }),
    credentials: beside(path, added.credentials),
  };
  if (text !== undefined) return textWith(text, account, (account) => ({ ...own, ...withoutOwn(account) }));
  const made = {
    $schema: added.schema && beside(path, added.schema),
    warehouse: beside(path, added.warehouse),
    accounts: { [account]: own },
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

/** With another value for a setting of the account. */
export function settingsWithAdvice(text: string, account: string, { setting, value }: FoundSetting): string {
  return textWith(text, account, (before) => ({ ...before, [setting]: value }));
}

/** In the place of the account if it is there, else after the last one; indented as the others are. */
function textWith(
  text: string,
  account: string,
  settingsOf: (before: Readonly<Record<string, unknown>>) => object,
): string {
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
  const settings = settingsOf(before);
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

function withoutOwn(account: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(account).filter(([key]) => !OWN_KEYS.has(key)));
}

/** A path below the file's folder starts from there; every other stays absolute. */
function beside(path: string, place: string): string {
  return isAbsolute(place) ? (belowFolderOf(path, place) ?? place) : place;
}

/** Undefined for what lies elsewhere; on another drive no path leads there. */
function belowFolderOf(path: string, place: string): string | undefined {
  const from = relative(dirname(path), place).split(sep).join("/");
  return isAbsolute(from) || /^\.\.(?:\/|$)/.test(from) ? undefined : `./${from}`;
}

/** The JSON Schema of the settings file, which editors complete and check with. */
const SCHEMA = "brand-events.schema.json";

/** What editors check the file with, beside it: there for a colleague too, who clones it. Undefined where a package leaves it out. */
export function schemaBeside(path: string): { readonly file: string; readonly text: string } | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (dirname(folder) !== folder) {
    const file = join(folder, SCHEMA);
    if (existsSync(file)) return { file: join(dirname(path), SCHEMA), text: readFileSync(file, "utf8") };
    folder = dirname(folder);
  }
  return undefined;
}
