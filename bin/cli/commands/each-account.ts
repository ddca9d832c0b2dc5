// `--all`: a command for each account, one after the other. What ends one account does not end the others.

import { withoutUserinfo } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { knownAccounts } from "../../../lambdas/job/storage/known-accounts.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import type { OptionName, OptionValues } from "../options/options.ts";
import { EXIT, exitCodeOfError, worstExitCode } from "../output/exit-code.ts";
import type { AccountResult, Output } from "../output/output.ts";
import { failureJson } from "../output/run-report.ts";
import type { CommandContext } from "../wiring/command-context.ts";
import { missingWarehouse } from "../wiring/open-warehouse.ts";
import type { CommandSpec } from "./command.ts";

interface Accounts<Name extends OptionName> {
  readonly accounts: readonly string[];
  readonly isJson: boolean;
  readonly valuesOf: (account: string) => OptionValues<Name>;
}

interface Ended extends AccountResult {
  readonly account: string;
  readonly exitCode: number;
}

/** Returns the exit code that weighs most. */
export async function eachAccount<Name extends OptionName>(
  spec: CommandSpec<Name>,
  { accounts, isJson, valuesOf }: Accounts<Name>,
  context: Omit<CommandContext, "result">,
): Promise<number> {
  const { stdout, stderr } = context;
  const forPeople = isJson ? stderr : stdout;
  const ended: Ended[] = [];
  for (const account of accounts) {
    if (context.signal.aborted) ended.push(notBegun(spec, account));
    else {
      forPeople.line(`account ${account}`);
      ended.push(await endOf(spec, account, valuesOf, context));
    }
  }
  const widest = Math.max(...accounts.map(({ length }) => length));
  forPeople.lines(["all accounts", ...ended.map((each) => `  ${each.account.padEnd(widest)}  ${each.line}`)]);
  if (isJson) stdout.json({ accounts: ended.map(({ account, json }) => ({ account, ...json })) });
  return worstExitCode(ended.map(({ exitCode }) => exitCode));
}

async function endOf<Name extends OptionName>(
  spec: CommandSpec<Name>,
  account: string,
  valuesOf: Accounts<Name>["valuesOf"],
  context: Omit<CommandContext, "result">,
): Promise<Ended> {
  let found: AccountResult = failed(spec, null, "Unexpected error: see standard error.");
  const result = (given: AccountResult): void => {
    found = given;
  };
  try {
    const exitCode = await spec.execute(valuesOf(account), { ...context, result }, "");
    return { account, exitCode, ...found };
  } catch (error) {
    if (!(error instanceof SyncError)) {
      return { account, exitCode: reportUnexpectedError(error, context), ...found };
    }
    const { code } = error;
    const message = withoutUserinfo(error.message);
    context.stderr.message(`${code}: ${message}`);
    return { account, exitCode: exitCodeOfError(error), ...failed(spec, code, message) };
  }
}

function notBegun<Name extends OptionName>(spec: CommandSpec<Name>, account: string): Ended {
  const result = failed(spec, "INTERRUPTED", "Not started: the command was interrupted first.");
  return { account, exitCode: EXIT.interrupted, ...result, line: "not begun" };
}

function failed<Name extends OptionName>(
  spec: CommandSpec<Name>,
  code: string | null,
  message: string,
): AccountResult {
  const json = (spec.failureJson ?? failureJson)(code, message);
  return { json, line: ["FAILED".padEnd(11), code ?? "unexpected error"].join(" ") };
}

/**
 * Those of the warehouse, and those of the settings file, which may never have run; sorted. Throws `CONFIG_INVALID`
 * where there are none.
 */
export async function warehouseAccounts(
  store: Store,
  { config, warehouse }: OptionValues<"config" | "warehouse">,
  { cwd }: Pick<CommandContext, "cwd">,
): Promise<readonly string[]> {
  const accounts = new Set([...(await knownAccounts(store)), ...(config?.accounts ?? [])]);
  if (accounts.size === 0) throw missingWarehouse({ warehouse }, cwd);
  return [...accounts].sort();
}

/** Its message may quote data, so only its kind and place are shown. Returns the exit code. */
export function reportUnexpectedError(error: unknown, { stderr }: Output): number {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const frames = stack.split("\n").filter((line) => line.startsWith("    at "));
  const kind = error instanceof Error ? error.name : typeof error;
  stderr.lines([`Unexpected error (${kind}). This is a defect: please report it.`, ...frames]);
  return EXIT.failed;
}
