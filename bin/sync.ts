// The command line: reads options, starts a command, turns what comes back into words and an exit code.

import { Command, CommanderError } from "commander";
import { withoutUserinfo } from "../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../lambdas/job/errors/sync-error.ts";
import { VERSION } from "../lambdas/job/runtime/program-version.ts";
import { acceptCommand, rollbackCommand } from "./cli/commands/accept-and-rollback.ts";
import { checkCommand } from "./cli/commands/check.ts";
import type { CommandSpec, Output } from "./cli/commands/command.ts";
import { discoverCommand } from "./cli/commands/discover.ts";
import { queryCommand } from "./cli/commands/query.ts";
import { runCommand } from "./cli/commands/run.ts";
import { statusCommand } from "./cli/commands/status.ts";
import type { OptionName } from "./cli/options/options.ts";
import { refusePastedArguments } from "./cli/options/pasted-secret.ts";
import { type GivenOptions, helpOption, readOptions } from "./cli/options/read-options.ts";
import { EXIT, exitCodeOfError } from "./cli/output/exit-code.ts";
import { Terminal } from "./cli/output/terminal.ts";
import { stopSignals } from "./cli/wiring/stop-signals.ts";

const output: Output = {
  stdout: new Terminal(process.stdout),
  stderr: new Terminal(process.stderr),
  signal: stopSignals({ process, elapsedMs: () => performance.now() }),
};
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.done;
  const program = new Command("npm run sync --")
    .description("Brings the events of a Brand Metrics Service into your own warehouse.")
    .version(VERSION)
    .configureOutput({
      writeOut: (text) => output.stdout.text(text),
      writeErr: (text) => output.stderr.text(text),
      outputError: (text) => output.stderr.message(withoutUserinfo(text.trimEnd())),
    })
    .exitOverride();
  const add = <Name extends OptionName>(spec: CommandSpec<Name>): void => {
    const command = commandOf(program, spec);
    command.action(async () => {
      exitCode = await execute(spec, command);
    });
  };
  add(checkCommand);
  add(discoverCommand);
  add(runCommand);
  add(statusCommand);
  add(acceptCommand);
  add(rollbackCommand);
  add(queryCommand);
  try {
    refusePastedArguments(args);
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    const isUsage = error instanceof CommanderError;
    if (!isUsage && !(error instanceof SyncError)) return unexpected(error);
    if (isUsage && error.exitCode === 0) return EXIT.done;
    const message = withoutUserinfo(error.message);
    const wantsJson = args[0] === runCommand.name && args.includes("--json");
    if (wantsJson) output.stdout.json(runCommand.failureJson?.("CONFIG_INVALID", message));
    if (!isUsage) output.stderr.message(`${error.code}: ${message}`);
    return EXIT.wrongInput;
  }
}

function commandOf<Name extends OptionName>(program: Command, spec: CommandSpec<Name>): Command {
  const command = program
    .command(spec.name)
    .description(spec.summary)
    .addHelpText("after", `\nExample:\n  ${spec.example}`);
  for (const name of spec.options) command.addOption(helpOption(name));
  if (spec.argument) command.argument(`<${spec.argument.name}>`, spec.argument.description);
  return command;
}

async function execute<Name extends OptionName>(spec: CommandSpec<Name>, command: Command): Promise<number> {
  const given = command.opts<GivenOptions>();
  try {
    return await spec.execute(readOptions(spec.options, given, process.env), output, command.args[0] ?? "");
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    if (given["json"] && spec.failureJson) output.stdout.json(spec.failureJson(error.code, error.message));
    output.stderr.message(`${error.code}: ${error.message}`);
    return exitCodeOfError(error);
  }
}

/** A defect of this program. Its message may quote data, so only its kind and place are shown. */
function unexpected(error: unknown): number {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  const kind = error instanceof Error ? error.name : typeof error;
  output.stderr.lines([`Unexpected error (${kind}). This is a defect: please report it.`, ...frames]);
  return EXIT.failed;
}
