// The two styles in which settings and commands are spelled: for a shell on this computer, with or without a settings file,
// and for AWS.

import { type Advice, type CommandRef, inOrder, type SettingRef } from "../job/errors/advice.ts";
import { shellWord } from "../job/errors/shown-text.ts";
import type { SyncError } from "../job/errors/sync-error.ts";
import { liftText } from "../job/settings/lifted-column.ts";
import { ACCOUNT_SETTINGS, type Setting } from "../job/settings-file/settings.ts";
import { SHARED_SETTINGS } from "../job/settings-file/settings-schema.ts";

export interface Style {
  /** @param isNamed the place where settings are was named before in the same text */
  readonly setting: (ref: SettingRef, isNamed?: boolean) => string;
  /** Ready to paste; undefined where something is missing that no command works without. */
  readonly command: (ref: CommandRef) => string | undefined;
}

/** How advice reads at a place. */
export function say(advice: Advice, style: Style): string {
  let isNamed = false;
  return advice
    .map((part) => {
      if (typeof part === "string") return part;
      if ("setting" in part) {
        const spelled = style.setting(part, isNamed);
        isNamed = true;
        return spelled;
      }
      const text = style.command(part);
      return text === undefined ? nameOf(part) : `\`${text}\``;
    })
    .join("");
}

/** What has happened, why, and what to do. */
export function sayError({ message, next }: Pick<SyncError, "message" | "next">, style: Style): string {
  return say(inOrder(message, next), style);
}

/** Settings of an account as options. */
export function asOption({ setting, value }: SettingRef): string {
  const option = `--${optionOf(setting)}`;
  if (value === undefined) return option;
  if (Array.isArray(value)) return value.map((one) => `${option} ${shellWord(liftText(one))}`).join(" ");
  return `${option} ${shellWord(String(value))}`;
}

/** Where no more is known of the place than that it is a shell. */
export const ANY_SHELL: Style = { setting: asOption, command: () => undefined };

/** `run --over-damaged`. */
function nameOf({ command, snapshotId, decision }: CommandRef): string {
  return [command, snapshotId, decision && `--${DECISION_OPTIONS[decision]}`].filter(Boolean).join(" ");
}

export const DECISION_OPTIONS: Readonly<Record<NonNullable<CommandRef["decision"]>, string>> = {
  force: "force",
  fresh: "fresh",
  overDamaged: "over-damaged",
};

/** Settings of an account in a file with the account, by their key. */
export function asKeyIn(file: string, account?: string): Style["setting"] {
  return ({ setting, value }, isNamed = false) => {
    const entry = value === undefined ? `"${setting}"` : `"${setting}": ${JSON.stringify(value)}`;
    if (isNamed) return entry;
    return account !== undefined && setting in ACCOUNT_SETTINGS
      ? `${entry} of the account ${account} in ${file}`
      : `${entry} in ${file}`;
  };
}

function optionOf(name: SettingRef["setting"]): string {
  const { flag = name }: Setting = { ...ACCOUNT_SETTINGS, ...SHARED_SETTINGS }[name];
  return /--([\w-]+)/.exec(flag)?.[1] ?? name;
}

/** Of an account of a deployment: `invoke` calls the function, `authorize` is for the computer with its settings. */
export function awsStyle(
  account: string,
  {
    invoke,
    authorize,
  }: { readonly invoke: (input: object) => string; readonly authorize?: string | undefined },
): Style {
  return {
    setting: asKeyIn("cdk.json", account),
    command: (ref) => (ref.command === "authorize" ? authorize : invoke(inputOf(account, ref))),
  };
}

/** What the function is invoked with. */
function inputOf(account: string, { command, snapshotId, decision }: CommandRef): object {
  return {
    action: command,
    account,
    ...(snapshotId === undefined ? {} : { snapshotId }),
    ...(command === "retire" ? { yes: true } : {}),
    ...(decision === undefined ? {} : { [decision]: true }),
  };
}
