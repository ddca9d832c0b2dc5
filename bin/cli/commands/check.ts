// `check`: tries credentials, service, warehouse and catalog, and says what to do about each that fails.

import { type Check, check } from "../../../lambdas/job/run/check.ts";
import type { OptionValues } from "../options/options.ts";
import { givenSettings, SERVICE_OPTIONS } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import type { CommandContext, CommandSpec } from "../wiring/command.ts";
import { credentialsWork } from "../wiring/open-credentials.ts";
import { servicePorts } from "../wiring/service-ports.ts";

const OPTIONS = [...SERVICE_OPTIONS, "lifted", "deep", "all"] as const;

export const checkCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "check",
  summary: "try credentials, service and warehouse, and say how to fix what fails",
  options: OPTIONS,
  example: "check --base-url https://service.example",
  execute: async (values, context) => exitCodeOf(await tryAccount(values, context)),
  failureJson: (code, remedy) => ({ ok: false, checks: [{ name: "settings", ok: false, code, remedy }] }),
};

/** The checks, which are printed as well. */
export async function tryAccount(
  values: OptionValues<(typeof OPTIONS)[number]>,
  context: CommandContext,
): Promise<readonly Check[]> {
  const settings = givenSettings(values);
  const { ports, display } = await servicePorts(values, settings, context);
  let estimate = "";
  const onEstimate = (text: string): void => {
    estimate = `  ${text}`;
  };
  const checks = await check(ports, settings, { deep: values.deep, onEstimate }).finally(() => display.end());
  const ok = checks.every((one) => one.ok);
  if (ok) await credentialsWork(values.credentials);
  context.result({ json: { ok, checks }, line: inOneLine(checks, estimate) });
  if (!values.json) {
    for (const { name, ok: isOk, code, remedy } of checks) {
      const about = name === "list" ? estimate : remedy === null ? "" : `  ${remedy}`;
      context.stdout.message(isOk ? `ok      ${name}${about}` : `FAILED  ${name}  ${code}: ${remedy}`);
    }
  }
  return checks;
}

/** `ok          5,000 events, about 28 min`, `FAILED      login LOGIN_REFUSED`. */
function inOneLine(checks: readonly Check[], estimate: string): string {
  const failed = checks.filter(({ ok }) => !ok).map(({ name, code }) => `${name} ${code}`);
  return (failed.length === 0 ? `ok        ${estimate}` : `FAILED      ${failed.join(", ")}`).trimEnd();
}

/** A lease that is taken says nothing bad of the settings, so whatever else fails weighs more. */
export function exitCodeOf(checks: readonly Check[]): number {
  const failed = checks.filter(({ ok }) => !ok);
  if (failed.length === 0) return EXIT.done;
  if (failed.some(({ code }) => code === "CREDENTIALS_INVALID")) return EXIT.wrongInput;
  return failed.every(({ name }) => name === "lease") ? EXIT.skipped : EXIT.failed;
}
