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
import { commandLineText, type GivenOptions, isAsInFile } from "../options/read-options.ts";

const OF_THE_SERVICE = SERVICE_OPTIONS.filter((name) => name !== "json" && name !== "logLevel");

/** The options that such a command may need. */
export const NEXT_OPTIONS = ["overDamaged", ...OF_THE_SERVICE, ...RUN_OPTIONS] as const;

/** What is not known of a start that failed early is absent. */
type NextValues = Partial<OptionValues<(typeof NEXT_OPTIONS)[number] | "dryRun" | "all">>;

const COMMANDS = {
  authorize: { options: AUTHORIZE_OPTIONS, needs: "authUrl" },
  check: { options: OF_THE_SERVICE, needs: "baseUrl" },
  run: { options: NEXT_OPTIONS, needs: "baseUrl" },
} as const;

/** A command that a person runs next, and what it is for: `To publish it anyway`. */
type NextCommand = readonly [purpose: string, command: string];

/** How settings and commands are spelled at this computer, ready to paste. */
export interface StyleHere extends Style {
  /** A step, or what its command needs and nothing here says. */
  readonly step: (step: Step) => NextCommand;
  /** What is said of a list that may be a part only; what was tried where that is given, else the command that tries. */
  readonly doubt: (
    doubt: ListDoubt | undefined,
    trial?: { readonly found: ListTrial | undefined },
  ) => string | undefined;
}

export function styleHere(values: NextValues, spelled = spellingOf(values)): StyleHere {
  return {
    ...spelled,
    step: (step) => stepHere(step, values),
    doubt: (doubt, trial) => doubtText(doubt, { nextPage: values.nextPage, style: spelled, trial }),
  };
}

function spellingOf(values: NextValues): Style {
  return { setting: settingHere(values), command: (ref) => commandHere(ref, values) };
}

/** The same for a start, also of a command that takes fewer options, or of which one may be wrong. */
export function styleOf(given: GivenOptions): StyleHere {
  try {
    return styleHere(given.read(NEXT_OPTIONS));
  } catch {
    return styleHere({}, ANY_SHELL);
  }
}

/** In the settings file, where that says what holds, or is to say it; else as options. */
function settingHere(values: NextValues): Style["setting"] {
  const { account, config } = values;
  return (ref, isNamed) => {
    const { setting: name, value } = ref;
    const isInFile = value === undefined ? isAsInFile(name, values) : config && isOf(config, account);
    return config && isInFile ? asKeyIn(config.title, account)(ref, isNamed) : asOption(ref);
  };
}

const isOf = ({ accounts }: { readonly accounts: readonly string[] }, account: string | undefined): boolean =>
  account === undefined || accounts.includes(account);

function commandHere(
  { command, snapshotId, decision }: CommandRef,
  values: NextValues,
  more: readonly string[] = [],
): string | undefined {
  const words = [
    command,
    ...(snapshotId === undefined ? [] : [snapshotId]),
    ...(command === "retire" ? ["--yes"] : []),
    ...(decision ? [`--${DECISION_OPTIONS[decision]}`] : []),
    ...more,
  ];
  if (command !== "run" && command !== "check" && command !== "authorize")
    return commandLineText(words, PLACE_OPTIONS, values);
  const { options, needs } = COMMANDS[command];
  const given = decision ? { ...values, overDamaged: false } : values;
  const isKnown = values[needs] !== undefined || values.config !== undefined;
  return isKnown ? commandLineText(words, options, given) : undefined;
}

function stepHere({ purpose, command: ref }: Step, values: NextValues): NextCommand {
  const isDry = ref.command === "run" && values.dryRun === true;
  const isOfAll = ref.command === "run" && values.all === true && values.account === undefined;
  const words = isDry ? ["--dry-run"] : isOfAll ? ["--all"] : [];
  const needs = ref.command === "authorize" ? "authUrl" : "baseUrl";
  return [
    isDry ? "Then try again" : purpose,
    commandHere(ref, values, words) ?? `${ref.command}, which needs --${longName(needs)} or a settings file`,
  ];
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
