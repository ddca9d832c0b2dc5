// `check`: tries credentials, service, warehouse and catalog, and says what to do about each that fails.

import { check } from "../../../lambdas/job/commands/check.ts";
import type { Check, FoundSetting } from "../../../lambdas/job/commands/check-service.ts";
import { type Advice, advise, setting } from "../../../lambdas/job/errors/advice.ts";
import type { ListDoubt, ListTrial } from "../../../lambdas/job/service/event-service.ts";
import { say } from "../../../lambdas/words/style.ts";
import { type OptionValues, SERVICE_OPTIONS } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import { credentialsWork } from "../wiring/open-warehouse.ts";
import { withService } from "../wiring/service-ports.ts";
import { requireFiles } from "../wiring/warehouse-disk.ts";
import { askIsAll, NOT_ALL } from "./questions.ts";

export const checkCommand = command({
  name: "check",
  group: "Every day",
  summary:
    "try credentials, service and warehouse, compare the files of what readers see with their checksums, and say how to fix what fails",
  options: [...SERVICE_OPTIONS, "lifted", "deep", "all"],
  example: "check --base-url https://service.example",
  execute: async (values, context) => {
    const { isOpen, exitCode } = await tryAccount(values, context);
    if (isOpen && !values.json && !values.all) await tellWhatToSet(context);
    return exitCode;
  },
  failureJson: (code, remedy) => ({ ok: false, checks: [{ name: "settings", ok: false, code, remedy }] }),
});

export interface Tried {
  /** The checks, which are printed as well. */
  readonly checks: readonly Check[];
  readonly exitCode: number;
  /** Settings that were tried and work. */
  readonly advice: readonly FoundSetting[];
  /** Only a person can say whether the list is whole: nothing says it, and nothing that was tried brought more. */
  readonly isOpen: boolean;
}

/** Asks a person at a terminal whether the list is whole. */
async function tellWhatToSet(context: CommandContext): Promise<void> {
  const isAll = await askIsAll(context);
  if (isAll === undefined) return;
  const then = isAll ? advise`Then set ${setting("nextPage", "all")}: it is not asked any more.` : NOT_ALL;
  context.stderr.lines([say(then, context.style)]);
}

export async function tryAccount(
  values: OptionValues<(typeof SERVICE_OPTIONS)[number] | "lifted" | "deep">,
  context: CommandContext,
): Promise<Tried> {
  const { style } = context;
  let estimate = "";
  const onEstimate = (found: Advice): void => {
    estimate = `  ${say(found, style)}`;
  };
  let doubted: readonly [doubt: ListDoubt, trial: ListTrial | undefined] | undefined;
  const advice: FoundSetting[] = [];
  const found = await withService(values, context, async ({ ports, settings, warehouse }) => {
    if (warehouse.directory) await requireFiles(warehouse.directory);
    return check(ports, settings, {
      deep: values.deep,
      onEstimate,
      onDoubt: (...found) => {
        doubted = found;
      },
      onAdvice: (found) => advice.push(found),
    });
  });
  const checks = found.map(({ remedy, ...one }) => ({
    ...one,
    remedy: remedy && say(remedy, style),
  }));
  const [doubt, trial] = doubted ?? [];
  const said = style.doubt(doubt, { found: trial });
  const ok = checks.every((one) => one.ok);
  if (ok) await credentialsWork(values.credentials);
  context.result({ json: { ok, checks, doubt: said ?? null }, line: inOneLine(found, estimate) });
  if (!values.json) {
    for (const { name, ok: isOk, code, remedy } of checks) {
      const about = (name === "list" ? estimate : "") + (remedy === null ? "" : `  ${remedy}`);
      context.stdout.message(isOk ? `ok      ${name}${about}` : `FAILED  ${name}  ${code}: ${remedy}`);
    }
  }
  if (said !== undefined) context.stderr.message(said);
  return {
    checks: found,
    exitCode: exitCodeOf(found),
    advice,
    isOpen: said !== undefined && doubt?.why === "unsaid" && advice.length === 0,
  };
}

/** `ok          5,000 events, about 28 min`, `FAILED      login LOGIN_REFUSED`. */
function inOneLine(checks: readonly Check[], estimate: string): string {
  const failed = checks.filter(({ ok }) => !ok).map(({ name, code }) => `${name} ${code}`);
  return (failed.length === 0 ? `ok        ${estimate}` : `FAILED      ${failed.join(", ")}`).trimEnd();
}

/** A lease that is taken says nothing bad of the settings, so whatever else fails weighs more. */
function exitCodeOf(checks: readonly Check[]): number {
  const failed = checks.filter(({ ok }) => !ok);
  if (failed.length === 0) return EXIT.done;
  if (failed.some(({ code }) => code === "CREDENTIALS_INVALID")) return EXIT.wrongInput;
  return failed.every(({ code }) => code === "LEASE_TAKEN" || code === "LEASE_LOST")
    ? EXIT.skipped
    : EXIT.failed;
}
