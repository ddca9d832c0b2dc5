// The command line: reads options, starts a command, turns its result into words and an exit code.

import { Command, CommanderError } from "commander";
import { onlyHosts, withoutUserinfo } from "../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import { VERSION } from "../../lambdas/job/runtime/version.ts";
import { systemBrowser } from "./authorize/system-browser.ts";
import { acceptCommand, rollbackCommand } from "./commands/accept-and-rollback.ts";
import { authorizeCommand } from "./commands/authorize.ts";
import { checkCommand } from "./commands/check.ts";
import { columnsCommand } from "./commands/columns.ts";
import { diffCommand } from "./commands/diff.ts";
import { discoverCommand } from "./commands/discover.ts";
import { initCommand } from "./commands/init.ts";
import { queryCommand } from "./commands/query.ts";
import { removeCommand } from "./commands/remove.ts";
import { reportCommand } from "./commands/report.ts";
import { retireCommand } from "./commands/retire.ts";
import { runCommand } from "./commands/run.ts";
import { statusCommand } from "./commands/status.ts";
import { verifyCommand } from "./commands/verify.ts";
import { viewsCommand } from "./commands/views.ts";
import { longName, OPTIONS, type OptionName, type OptionValues } from "./options/options.ts";
import {
  allAccounts,
  type GivenOptions,
  helpOption,
  isGiven,
  namedConfig,
  PROGRAM_NAME,
  readOptions,
  refusePastedArguments,
  wantsJson,
} from "./options/read-options.ts";
import { openSettingsFile } from "./options/settings-file.ts";
import { EXIT, exitCodeOfError } from "./output/exit-code.ts";
import { failureJson } from "./output/run-report.ts";
import { type AccountResult, type Output, Terminal } from "./output/terminal.ts";
import type { CommandContext, CommandSpec, ProcessContext } from "./wiring/command.ts";
import { stopSignals } from "./wiring/this-process.ts";

/** The command line of a process: its arguments, environment, streams and signals. Returns the exit code. */
export function commandLine(process: NodeJS.Process, elapsedMs: () => number): Promise<number> {
  const { env, stdout, stderr } = process;
  return main(process.argv.slice(2), env, {
    stdout: Terminal.in(env, stdout),
    stderr: Terminal.in(env, stderr),
    signal: stopSignals({ process, elapsedMs }),
    cwd: process.cwd(),
    stdin: () => process.stdin,
    openBrowser: systemBrowser(process.platform),
  });
}

/** Runs one command and returns its exit code. Never throws: a defect is reported and exits with 1. */
export async function main(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  context: ProcessContext,
): Promise<number> {
  let exitCode: number = EXIT.done;
  let failureJson: CommandSpec<never>["failureJson"];
  const answerInJson = (code: string | null, message: string): void => {
    // What a command has begun to print is its own to end.
    if (failureJson && context.stdout.isEmpty && wantsJson(args, environment))
      context.stdout.json(failureJson(code, message));
  };
  const program = new Command(PROGRAM_NAME)
    .description("Brings the events of a Brand Metrics Service into your own warehouse.")
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => context.stdout.text(text),
      writeErr: (text) => context.stderr.text(text),
      outputError: (text) => context.stderr.message(onlyHosts(text.trimEnd())),
    })
    .exitOverride();
  const add = <Name extends OptionName>(spec: CommandSpec<Name>): void => {
    if (spec.name === args[0] && spec.options.some((name) => name === "json"))
      failureJson = spec.failureJson ?? ((code, message) => ({ error_code: code, error_message: message }));
    const command = commandOf(program, spec);
    command.action(async () => {
      const given = command.opts<GivenOptions>();
      const usesFile = spec.options.some((name) => name === "config");
      const { cwd } = context;
      const configPath = namedConfig(given, environment);
      const file = usesFile && !spec.makesConfig ? openSettingsFile(configPath, cwd) : undefined;
      const valuesOf = (over: GivenOptions): OptionValues<Name> =>
        readOptions(spec.options, { ...given, ...over }, environment, file, { ofAll: spec.ofAll, cwd });
      const isSet = (name: "all" | "json"): boolean =>
        spec.options.some((each) => each === name) && readOptions([name], given, environment)[name];
      const commandContext = {
        ...context,
        proxies: readProxies(environment),
        configPath,
        // An empty variable counts as not set.
        secrets: {
          password: environment["BRAND_PASSWORD"] || undefined,
          clientSecret: environment["BRAND_CLIENT_SECRET"] || undefined,
        },
        isGiven: (name: OptionName) => isGiven(name, given, environment),
        valuesFor: <Each extends OptionName>(names: readonly Each[], account: string) =>
          readOptions<Each | "account">(["account", ...names], { ...given, account }, environment, file, {
            cwd,
          }),
      };
      const accounts = isSet("all") ? allAccounts(file, given, environment) : undefined;
      if (accounts !== undefined) {
        const all = { accounts, isJson: isSet("json"), valuesOf: (account: string) => valuesOf({ account }) };
        exitCode = await eachAccount(spec, all, commandContext);
        return;
      }
      const result = ({ json }: AccountResult): void => {
        if (isSet("json")) context.stdout.json(json);
      };
      const [argument = "", second] = command.args;
      exitCode = await spec.execute(valuesOf({}), { ...commandContext, result }, argument, second);
    });
  };
  add(initCommand);
  add(checkCommand);
  add(discoverCommand);
  add(runCommand);
  add(verifyCommand);
  add(statusCommand);
  add(diffCommand);
  add(reportCommand);
  add(acceptCommand);
  add(rollbackCommand);
  add(queryCommand);
  add(viewsCommand);
  add(columnsCommand);
  add(retireCommand);
  add(removeCommand);
  add(authorizeCommand);
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
    if (error instanceof SyncError) answerInJson(error.code, withoutUserinfo(error.message));
    else answerInJson(null, UNEXPECTED);
    return reportError(error, context);
  }
}

function commandOf<Name extends OptionName>(program: Command, spec: CommandSpec<Name>): Command {
  const command = program
    .command(spec.name)
    .description(spec.summary)
    .addHelpText("after", `\nExample:\n  ${PROGRAM_NAME} ${spec.example}`);
  for (const name of [...spec.options, ...(spec.ofEach ?? [])])
    command.addOption(helpOption(name, spec.name));
  if (spec.argument) {
    const { name, description, isOptional } = spec.argument;
    command.argument(isOptional ? `[${name}]` : `<${name}>`, description);
  }
  if (spec.secondArgument) {
    command.argument(`[${spec.secondArgument.name}]`, spec.secondArgument.description);
  }
  return command;
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

interface Accounts<Name extends OptionName> {
  readonly accounts: readonly string[];
  readonly isJson: boolean;
  readonly valuesOf: (account: string) => OptionValues<Name>;
}

interface Ended extends AccountResult {
  readonly account: string;
  readonly exitCode: number;
}

/** `--all`: one account after the other. What ends one does not end the others. Returns the exit code that weighs most. */
async function eachAccount<Name extends OptionName>(
  spec: CommandSpec<Name>,
  { accounts, isJson, valuesOf }: Accounts<Name>,
  context: Omit<CommandContext, "result">,
): Promise<number> {
  const { stdout, stderr, signal } = context;
  const forPeople = isJson ? stderr : stdout;
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
    forPeople.line(`account ${account}`);
    let found = failed(null, UNEXPECTED);
    const result = (given: AccountResult): void => {
      found = given;
    };
    let exitCode: number;
    try {
      exitCode = await spec.execute(valuesOf(account), { ...context, result }, "");
    } catch (error) {
      exitCode = reportError(error, context);
      if (error instanceof SyncError) found = failed(error.code, withoutUserinfo(error.message));
    }
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
  EXIT.tooOld,
  EXIT.done,
];

const UNEXPECTED = "Unexpected error: see standard error.";

/** Of a defect only the kind and the place are shown: its message may quote data. Returns the exit code. */
function reportError(error: unknown, { stderr }: Output): number {
  if (error instanceof SyncError) {
    stderr.message(`${error.code}: ${withoutUserinfo(error.message)}`);
    return exitCodeOfError(error);
  }
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  const kind = error instanceof Error ? error.name : typeof error;
  stderr.lines([`Unexpected error (${kind}). This is a defect: please report it.`, ...frames]);
  return EXIT.failed;
}
