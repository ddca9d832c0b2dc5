// What a person runs after an attempt that came to nothing: a command for this computer, ready to paste.

import type { CommandRef } from "../../../lambdas/job/errors/advice.ts";
import type { ListDoubt, ListTrial } from "../../../lambdas/job/service/event-service.ts";
import { doubtText } from "../../../lambdas/words/doubt.ts";
import type { Step } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL, asKeyIn, asOption, DECISION_OPTIONS, type Style } from "../../../lambdas/words/style.ts";
import {
  AUTHORIZE_OPTIONS,
  longName,
  type OptionValues,
  PLACE_OPTIONS,
  RUN_OPTIONS,
  SERVICE_OPTIONS,
} from "../options/options.ts";
import { commandLineText, type GivenOptions } from "../options/read-options.ts";

const OF_THE_SERVICE = SERVICE_OPTIONS.filter((name) => name !== "json" && name !== "logLevel");

/** The options that such a command may need. */
const NEXT_OPTIONS = ["overDamaged", ...OF_THE_SERVICE, ...RUN_OPTIONS] as const;

export type NextValues = OptionValues<(typeof NEXT_OPTIONS)[number]>;

/** Of an account, also for a command that takes fewer options. */
export function nextValues(given: GivenOptions, account: string): NextValues {
  return given.ofAccount(account).read(NEXT_OPTIONS);
}

const COMMANDS = {
  authorize: { options: AUTHORIZE_OPTIONS, needs: "authUrl" },
  check: { options: OF_THE_SERVICE, needs: "baseUrl" },
  run: { options: NEXT_OPTIONS, needs: "baseUrl" },
} as const;

/** A command that a person runs next, and what it is for: `To publish it anyway`. */
export type NextCommand = readonly [purpose: string, command: string];

/** How settings and commands are spelled at this computer, ready to paste. */
export function styleHere(values: NextValues): Style {
  return { setting: settingHere(values), command: (ref) => commandHere(ref, values) };
}

/** The same for a command of which an option may be wrong. */
export function styleOf(given: GivenOptions, account?: string): Style {
  try {
    return styleHere((account === undefined ? given : given.ofAccount(account)).read(NEXT_OPTIONS));
  } catch {
    return ANY_SHELL;
  }
}

/** In the settings file that has the account, or as options. */
function settingHere({ account, config }: Pick<NextValues, "account" | "config">): Style["setting"] {
  return config?.accounts.includes(account) ? asKeyIn(config.title, account) : asOption;
}

function commandHere({ command, snapshotId, decision }: CommandRef, values: NextValues): string | undefined {
  const words = [
    command,
    ...(snapshotId === undefined ? [] : [snapshotId]),
    ...(command === "retire" ? ["--yes"] : []),
    ...(decision ? [`--${DECISION_OPTIONS[decision]}`] : []),
  ];
  if (command !== "run" && command !== "check" && command !== "authorize")
    return commandLineText(words, PLACE_OPTIONS, values);
  const { options, needs } = COMMANDS[command];
  const given = decision ? { ...values, overDamaged: false } : values;
  return values[needs] === undefined ? undefined : commandLineText(words, options, given);
}

/** What is said of a list that may be a part only; what was tried where that is given, else the command that tries. */
export function doubtHere(
  doubt: ListDoubt | undefined,
  values: NextValues,
  trial?: { readonly found: ListTrial | undefined },
): string | undefined {
  return doubtText(doubt, { nextPage: values.nextPage, style: styleHere(values), trial });
}

/** A step, or what its command needs and nothing here says. */
export function stepHere({ purpose, command: ref }: Step, values: NextValues): NextCommand {
  const command = commandHere(ref, values);
  if (command !== undefined) return [purpose, command];
  const needs = ref.command === "authorize" ? "authUrl" : "baseUrl";
  return [purpose, `${ref.command}, which needs --${longName(needs)} or a settings file`];
}

/** Messages of errors may list every wrong key of a file; chats cut long texts. */
const MAX_MESSAGE = 1_000;

export function sentence(text: unknown): string {
  const words = String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (words.length > MAX_MESSAGE) return `${words.slice(0, MAX_MESSAGE).toWellFormed()}…`;
  return /[.!?)]$/.test(words) || words === "" ? words : `${words}.`;
}
