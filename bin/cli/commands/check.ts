// `check`: tries credentials, service, warehouse and catalog, and says what to do about each that fails.

import { type Check, check } from "../../../lambdas/job/commands/check.ts";
import { type OptionValues, PLACE_OPTIONS, SERVICE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { EXIT } from "../output/exit-code.ts";
import { nextValues, startCommand } from "../output/next-command.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import { credentialsWork } from "../wiring/open-warehouse.ts";
import { withService } from "../wiring/service-ports.ts";

export const checkCommand = command({
  name: "check",
  group: "Every day",
  summary:
    "try credentials, service and warehouse, compare the files of what readers see with their checksums, and say how to fix what fails",
  options: [...SERVICE_OPTIONS, "lifted", "deep", "all"],
  example: "check --base-url https://service.example",
  execute: async (values, context) => (await tryAccount(values, context)).exitCode,
  failureJson: (code, remedy) => ({ ok: false, checks: [{ name: "settings", ok: false, code, remedy }] }),
});

interface Tried {
  /** They are printed as well. */
  readonly checks: readonly Check[];
  readonly exitCode: number;
}

export async function tryAccount(
  values: OptionValues<(typeof SERVICE_OPTIONS)[number] | "lifted" | "deep">,
  context: CommandContext,
): Promise<Tried> {
  let estimate = "";
  const onEstimate = (text: string): void => {
    estimate = `  ${text}`;
  };
  const checks = await withService(values, context, ({ ports, settings }) =>
    check(ports, settings, {
      deep: values.deep,
      onEstimate,
      retireCommand: (snapshotId) => commandLineText(["retire", snapshotId, "--yes"], PLACE_OPTIONS, values),
      startCommand: (decision) => startCommand(decision, nextValues(context.given, values.account)),
    }),
  );
  const ok = checks.every((one) => one.ok);
  if (ok) await credentialsWork(values.credentials);
  context.result({ json: { ok, checks }, line: inOneLine(checks, estimate) });
  if (!values.json) {
    for (const { name, ok: isOk, code, remedy } of checks) {
      const about = (name === "list" ? estimate : "") + (remedy === null ? "" : `  ${remedy}`);
      context.stdout.message(isOk ? `ok      ${name}${about}` : `FAILED  ${name}  ${code}: ${remedy}`);
    }
  }
  return { checks, exitCode: exitCodeOf(checks) };
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
