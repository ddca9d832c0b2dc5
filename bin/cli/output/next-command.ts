// What a person runs after an attempt that came to nothing: a command for this computer, ready to paste, and the
// attempt's message before it.

import { shellWord } from "../../../lambdas/job/errors/shown-text.ts";
import { type StartDecision, withCommands } from "../../../lambdas/job/errors/sync-error.ts";
import { doubtText } from "../../../lambdas/job/run/record/list-doubt.ts";
import type { Skipped } from "../../../lambdas/job/run/record/run-result.ts";
import type { ListDoubt, ListTrial } from "../../../lambdas/job/service/event-service.ts";
import {
  AUTHORIZE_OPTIONS,
  longName,
  type OptionValues,
  RUN_OPTIONS,
  SERVICE_OPTIONS,
} from "../options/options.ts";
import { commandLineText, type GivenOptions } from "../options/read-options.ts";
import { withSettings } from "./settings-here.ts";

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

/** @param isUnfinished the next run resumes it */
export function nextAfterFailure(code: unknown, isUnfinished: boolean, values: NextValues): NextCommand {
  if (code === "AUTHORIZATION_EXPIRED") return ["To authorize again", nextCommand("authorize", values)];
  if (isUnfinished) return ["To resume it", nextCommand("run", values)];
  return ["To find the cause", nextCommand("check", values)];
}

export function nextAfterSkip(reason: string | null, values: NextValues): NextCommand {
  return reason === "LOGIN_REFUSED" || reason === "NOT_SET_UP"
    ? ["To find the cause", nextCommand("check", values)]
    : ["To start a run", nextCommand("run", values)];
}

/** Starts a run as a person has decided. */
export function startCommand(decision: StartDecision, values: NextValues): string {
  return nextCommand("run", { ...values, [decision]: true });
}

/** A message for a person at this computer. Where no address of a service is known, no command could work. */
export function textHere(text: string, values: NextValues): string {
  const words = withSettings(text, values);
  return values.baseUrl === undefined ? words : withCommands(words, (each) => startCommand(each, values));
}

/** What is said of a list that may be a part only; what was tried where that is given, else the command that tries. */
export function doubtHere(
  doubt: ListDoubt | undefined,
  values: NextValues,
  trial?: { readonly found: ListTrial | undefined },
): string | undefined {
  return doubtText(doubt, {
    nextPage: values.nextPage,
    set: (nextPage) => nextPageHere(nextPage, values),
    ...(trial
      ? { trial: trial.found }
      : { check: values.baseUrl === undefined ? "check" : `\`${nextCommand("check", values)}\`` }),
  });
}

/** How a person sets `nextPage` here: in the settings file that has the account, or as an option. */
export function nextPageHere(nextPage: string, { account, config }: NextValues): string {
  return config?.accounts.includes(account)
    ? `"nextPage": ${JSON.stringify(nextPage)} of the account ${account} in ${config.title}`
    : `--next-page ${shellWord(nextPage)}`;
}

/** The command, or what it needs and nothing here says. */
function nextCommand(name: keyof typeof COMMANDS, values: NextValues): string {
  const { options, needs } = COMMANDS[name];
  if (values[needs] === undefined) return `${name}, which needs --${longName(needs)} or a settings file`;
  return commandLineText([name], options, values);
}

const SKIPPED_BECAUSE: Readonly<Record<Skipped["reason"] | "NOT_SET_UP", string>> = {
  LEASE_TAKEN: "Another process worked on the account.",
  LEASE_LOST: "Another process took the account over.",
  LOGIN_REFUSED: "The service had refused the login, and the credentials had not changed since.",
  OTHER_VERSION: "Another version of this program began the run, so it cannot be continued.",
  NOT_SET_UP: "The credentials were not set up.",
};

/** The run log has no message of a start that was skipped. */
export function skippedBecause(reason: string | null): string | undefined {
  return new Map<string | null, string>(Object.entries(SKIPPED_BECAUSE)).get(reason);
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

/** The message of an attempt, to stand before its next command: a message that ends with that command does not repeat it. */
export function messageBefore([, command]: NextCommand, message: unknown, values: NextValues): string {
  const words = sentence(message);
  const end = words.lastIndexOf(command);
  const why = end === -1 ? words : words.slice(0, words.lastIndexOf(". ", end) + 1);
  return textHere(why, values);
}
