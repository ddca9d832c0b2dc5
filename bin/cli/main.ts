// The command line: reads options, starts a command, turns its result into words and an exit code.

import { Command, CommanderError, Option } from "commander";
import { onlyHosts, shownDefect, withoutUserinfo } from "../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { readProxies, refuseAnyCertificate } from "../../lambdas/job/network/proxies.ts";
import { systemClock } from "../../lambdas/job/runtime/clock.ts";
import { VERSION } from "../../lambdas/job/runtime/version.ts";
import { plainText } from "../../lambdas/job/settings-file/settings.ts";
import { ANY_SHELL, sayError } from "../../lambdas/words/style.ts";
import { systemBrowser } from "./authorize/receive-answer.ts";
import { authorizeCommand } from "./commands/authorize.ts";
import { checkCommand } from "./commands/check.ts";
import { DECISIONS } from "./commands/decisions.ts";
import { diffCommand } from "./commands/diff.ts";
import { discoverCommand } from "./commands/discover.ts";
import { initCommand } from "./commands/init.ts";
import { QUERIES } from "./commands/query.ts";
import { reportCommand } from "./commands/report.ts";
import { runCommand } from "./commands/run.ts";
import { statusCommand } from "./commands/status.ts";
import {
  defaultText,
  longName,
  NOTIFY_OPTIONS,
  OPTIONS,
  type OptionName,
  type OptionSpec,
  SERVICE_OPTIONS,
  variableName,
} from "./options/options.ts";
import { GivenOptions, PROGRAM_NAME, refusePastedArguments } from "./options/read-options.ts";
import { EXIT, exitCodeOfError, systemReason } from "./output/exit-code.ts";
import { NEXT_OPTIONS, sentence, styleHere, styleOf } from "./output/next-command.ts";
import { type AccountResult, failureJson } from "./output/run-report.ts";
import { type Output, Terminal, wholeWrites } from "./output/terminal.ts";
import type { CommandOfList, ProcessContext, StartContext } from "./wiring/command.ts";
import { stopSignals } from "./wiring/this-process.ts";

/** The commands in the order of `--help`. */
export const COMMANDS: readonly CommandOfList[] = [
  initCommand,
  checkCommand,
  discoverCommand,
  runCommand,
  statusCommand,
  diffCommand,
  reportCommand,
  ...QUERIES,
  ...DECISIONS,
  authorizeCommand,
];

/** The command line of a process: its arguments, environment, streams and signals. Returns the exit code. */
export async function commandLine(process: NodeJS.Process, elapsedMs: () => number): Promise<number> {
  const { env, stdout } = process;
  const stderr = new Terminal(process.stderr, env);
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch (error) {
    const why = systemReason(error);
    stderr.message(`The current folder is not known: ${why}. Change to another one and start again.`);
    return EXIT.failed;
  }
  return main(process.argv.slice(2), env, {
    stdout: new Terminal(wholeWrites(stdout), env),
    stderr,
    signal: stopSignals({ process, elapsedMs }),
    cwd,
    clock: systemClock,
    stdin: () => process.stdin,
    openBrowser: systemBrowser(process.platform),
  });
}

/**
 * Runs one command and returns its exit code. Never throws: a defect is reported and exits with 1. So does a result that
 * cannot be written, because one that lacks something must not pass for a whole one.
 */
export async function main(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  context: ProcessContext,
): Promise<number> {
  const results: string[] = [];
  const onResult = ({ line }: AccountResult): unknown => results.push(sentence(line));
  const exitCode = await execute(args, environment, { ...context, onResult });
  // A reader that has stopped reading must not hold up a person who stops the command.
  const failure = context.signal.aborted ? undefined : await context.stdout.failure();
  if (failure === undefined) return exitCode;
  const isChanging = CHANGING.has(args[0]);
  const what = `The result cannot be written to standard output: ${systemReason(failure)}.`;
  context.stderr.message([isChanging ? what : `QUERY_FAILED: ${what}`, ...results].join(" "));
  return exitCode === EXIT.done && !isChanging ? EXIT.failed : exitCode;
}

/** What these have done stands, and to start them again would do it again. */
const CHANGING: ReadonlySet<string | undefined> = new Set(["run", "accept", "rollback", "retire", "remove"]);

interface MainContext extends ProcessContext {
  readonly onResult: (result: AccountResult) => unknown;
}

async function execute(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  context: MainContext,
): Promise<number> {
  const { stdout, stderr } = context;
  let exitCode: number = EXIT.done;
  const program = new Command(PROGRAM_NAME)
    .description("Brings the events of a Brand Metrics Service into your own warehouse.")
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => stdout.text(text),
      writeErr: (text) => stderr.text(text),
      outputError: (text) => stderr.message(onlyHosts(text.trimEnd())),
    })
    .commandsGroup("Set up:")
    .helpCommand(true)
    .exitOverride();
  for (const spec of COMMANDS) {
    const command = addCommand(program, spec);
    command.action(async () => {
      const given = new GivenOptions(command.opts(), environment, context.cwd);
      exitCode = await start(spec, command.args, given, environment, context);
    });
  }
  const answerInJson = (code: string | null, message: string): void => {
    const spec = COMMANDS.find(({ name }) => name === args[0]);
    // What a command has begun to print is its own to end.
    if (!spec?.options.includes("json") || !stdout.isEmpty || !wantsJson(args, environment)) return;
    stdout.json(spec.failureJson?.(code, message) ?? { error_code: code, error_message: message });
  };
  try {
    refusePastedArguments(args);
    await program.parseAsync(args.map(asArgumentIfSql), { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written its own message already.
      if (error.exitCode !== 0) answerInJson("CONFIG_INVALID", onlyHosts(error.message));
      return error.exitCode === 0 ? EXIT.done : EXIT.wrongInput;
    }
    if (error instanceof SyncError) answerInJson(error.code, textOf(error));
    else answerInJson(null, UNEXPECTED);
    return reportError(error, context);
  }
}

function addCommand(program: Command, spec: CommandOfList): Command {
  const command = program
    .command(spec.name)
    .description(spec.summary)
    .helpGroup(`${spec.group}:`)
    .addHelpOption(new Option("-h, --help", "display help for command").helpGroup(THIS_START))
    .addHelpText("after", `\nExample:\n  ${PROGRAM_NAME} ${spec.example}`);
  // Groups stand in the order of their first options: what is of this start only comes last.
  const isOfStart = (name: OptionName): number => Number(groupOf(name) === THIS_START);
  const names = [...spec.options, ...(spec.ofEach ?? [])];
  for (const name of names.toSorted((a, b) => isOfStart(a) - isOfStart(b)))
    command.addOption(helpOption(name, spec.name));
  for (const [name, description] of spec.arguments ?? []) command.argument(name, description);
  return command;
}

const THIS_START = "This start:";

/** In `--help` of a command. The first that has an option is its group; what is in none is of this start only. */
const OPTION_GROUPS: Readonly<Record<string, readonly OptionName[]>> = {
  "Account and warehouse:": ["config", "account", "warehouse", "database"],
  "Limits:": ["requestsPerMinute", "bytesPerMinute", "limitWindowSeconds", "concurrency", "retainDays"],
  "Guards:": ["maxDropPercent", "maxGrowthPercent", "maxMissingPercent", "require"],
  "Columns:": ["lifted"],
  "Telling people:": NOTIFY_OPTIONS,
  [THIS_START]: ["logLevel", "json"],
  "Service:": SERVICE_OPTIONS,
};

function groupOf(name: OptionName): string {
  return Object.entries(OPTION_GROUPS).find(([, names]) => names.includes(name))?.[0] ?? THIS_START;
}

/** The option as `--help` of a command shows it. */
function helpOption(name: OptionName, command: string): Option {
  const { flag, help, as }: OptionSpec = OPTIONS[name];
  const text = plainText(typeof help === "string" ? help : (help[command] ?? ""));
  const shown = as === "switch" ? undefined : defaultText(name);
  const fallback = shown === undefined ? "" : `, default ${shown}`;
  const option = new Option(flag, `${text} (${variableName(name)}${fallback})`).helpGroup(groupOf(name));
  if (as === "texts" || as === "columns")
    option.argParser((given, before: readonly string[] = []) => [...before, given]);
  return option;
}

async function start(
  spec: CommandOfList,
  [first = "", second]: readonly string[],
  onCommandLine: GivenOptions,
  environment: NodeJS.ProcessEnv,
  context: MainContext,
): Promise<number> {
  const readsFile = spec.options.includes("config") && !spec.makesConfig;
  const proxies = readProxies(environment);
  const startedAtMs = context.clock.monotonicMs();
  const shared = { ...context, environment, startedAtMs, proxies };
  let given = onCommandLine;
  const isSet = (name: "all" | "json" | "sql"): boolean =>
    spec.options.includes(name) && given.read([name])[name];
  let accounts: readonly string[] | undefined;
  try {
    if (readsFile) given = onCommandLine.withFile();
    if (spec.options.some((name) => name === "baseUrl" || name === "authUrl")) refuseAnyCertificate(proxies);
    accounts = isSet("all") ? given.allAccounts() : undefined;
  } catch (error) {
    await spec.onFailedStart?.(error, { ...shared, given, isFileRight: given !== onCommandLine });
    throw saidHere(error, given, spec);
  }
  const commandContext = { ...shared, given };
  const isJson = isSet("json");
  const forPeople = isJson || isSet("sql") ? context.stderr : context.stdout;
  if (accounts !== undefined) return eachAccount(spec, accounts, { isJson, forPeople }, commandContext);
  const result = (found: AccountResult): void => {
    context.onResult(found);
    if (isJson) context.stdout.json(found.json);
  };
  try {
    return await spec.execute({ ...commandContext, style: styleOf(given), result }, first, second);
  } catch (error) {
    throw saidHere(error, given, spec);
  }
}

/** The error as it is said where these options hold. */
function saidHere(error: unknown, given: GivenOptions, spec: CommandOfList): unknown {
  if (!(error instanceof SyncError)) return error;
  const { code, fields, cause } = error;
  // Of the options, as far as they can be read: the error may be about one of them.
  const names = NEXT_OPTIONS.filter((name) => name !== "account" || spec.options.includes(name));
  return new SyncError(code, sayError(error, styleHere(given.readRight(names))), { fields, cause });
}

/** Whether the result is JSON; also known where another option is wrong. */
function wantsJson(args: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  if (args.includes("--json")) return true;
  try {
    return new GivenOptions({}, environment, "").read(["json"]).json;
  } catch {
    return false;
  }
}

const LONG_NAMES: ReadonlySet<string> = new Set((Object.keys(OPTIONS) as OptionName[]).map(longName));

/**
 * SQL that begins with a comment begins like an option: a blank before it changes no SQL. No option has a space behind
 * its dashes. A comment without one ends with its line, and a statement follows.
 */
function asArgumentIfSql(arg: string): string {
  const [, name = ""] = /^--([\w-]*)=/.exec(arg) ?? [];
  const isSql = arg.startsWith("--") && !LONG_NAMES.has(name) && (/^--\s/.test(arg) || /[\r\n]/.test(arg));
  return isSql ? ` ${arg}` : arg;
}

interface Ended extends AccountResult {
  readonly account: string;
  readonly exitCode: number;
}

/** `--all`: one account after the other. What ends one does not end the others. Returns the exit code that weighs most. */
async function eachAccount(
  spec: CommandOfList,
  accounts: readonly string[],
  { isJson, forPeople }: { readonly isJson: boolean; readonly forPeople: Terminal },
  context: StartContext & MainContext,
): Promise<number> {
  const { stdout, signal } = context;
  const failed = (code: string | null, message: string): AccountResult => ({
    json: (spec.failureJson ?? failureJson)(code, message),
    line: ["FAILED".padEnd(11), code ?? "unexpected error"].join(" "),
  });
  const ended: Ended[] = [];
  for (const account of accounts) {
    if (signal.aborted) {
      const { json } = failed("INTERRUPTED", "Not started: the command was interrupted first.");
      ended.push({ account, exitCode: EXIT.interrupted, json, line: "not begun" });
      continue;
    }
    forPeople.lines([`account ${account}`]);
    let found = failed(null, UNEXPECTED);
    const result = (of: AccountResult): void => {
      found = of;
    };
    let exitCode: number;
    const given = context.given.ofAccount(account);
    try {
      exitCode = await spec.execute({ ...context, given, style: styleOf(given), result }, "");
    } catch (thrown) {
      const error = saidHere(thrown, given, spec);
      exitCode = reportError(error, context);
      if (error instanceof SyncError) found = failed(error.code, textOf(error));
    }
    context.onResult({ ...found, line: `${account}: ${found.line}` });
    ended.push({ account, exitCode, ...found });
  }
  const widest = Math.max(...accounts.map(({ length }) => length));
  forPeople.lines(["all accounts", ...ended.map((each) => `  ${each.account.padEnd(widest)}  ${each.line}`)]);
  if (isJson) stdout.json({ accounts: ended.map(({ account, json }) => ({ account, ...json })) });
  return BY_WEIGHT.find((code) => ended.some(({ exitCode }) => exitCode === code)) ?? EXIT.done;
}

/** What weighs most comes first. */
const BY_WEIGHT: readonly number[] = [
  EXIT.interrupted,
  EXIT.failed,
  EXIT.wrongInput,
  EXIT.held,
  EXIT.skipped,
];

const UNEXPECTED = "Unexpected error: see standard error.";

/** Whole, also where no option was read yet. */
function textOf(error: SyncError): string {
  return withoutUserinfo(sayError(error, ANY_SHELL));
}

/** Returns the exit code. */
function reportError(error: unknown, { stderr }: Output): number {
  if (error instanceof SyncError) {
    stderr.message(`${error.code}: ${textOf(error)}`);
    return exitCodeOfError(error);
  }
  const { message, frames } = shownDefect(error);
  stderr.lines([message, ...frames]);
  return EXIT.failed;
}
