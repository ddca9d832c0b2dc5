// `check`: tries credentials, service, warehouse and catalog, and says what to do about each that fails. `verify`: fetches
// random events of what readers see again, and says how many are still the same.

import { type Check, check } from "../../../lambdas/job/commands/check.ts";
import {
  MOST_NAMED,
  type Verified,
  verifiedCounts,
  verifiedText,
  verify,
} from "../../../lambdas/job/commands/verify.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { countText } from "../../../lambdas/job/run/record/texts.ts";
import { type OptionValues, PLACE_OPTIONS, SERVICE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { madeAtMs } from "../output/describe-status.ts";
import { EXIT } from "../output/exit-code.ts";
import { nextValues, startCommand, textHere } from "../output/next-command.ts";
import { failureJson, reportSkipped } from "../output/run-report.ts";
import { age, plural } from "../output/words.ts";
import { type CommandContext, type CommandOfList, command } from "../wiring/command.ts";
import { credentialsWork } from "../wiring/open-warehouse.ts";
import { withService } from "../wiring/service-ports.ts";
import { requireFiles } from "../wiring/warehouse-disk.ts";

const checkCommand = command({
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
  const checks = await withService(values, context, async ({ ports, settings, warehouse }) => {
    if (warehouse.directory) await requireFiles(warehouse.directory);
    return check(ports, settings, {
      deep: values.deep,
      onEstimate,
      retireCommand: (snapshotId) => commandLineText(["retire", snapshotId, "--yes"], PLACE_OPTIONS, values),
      startCommand: (decision) => startCommand(decision, nextValues(context.given, values.account)),
    });
  });
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
  return failed.every(({ name }) => name === "lease") ? EXIT.skipped : EXIT.failed;
}

const verifyCommand = command({
  name: "verify",
  group: "Every day",
  summary: "compare what readers see with the service: fetch random events again",
  options: [...SERVICE_OPTIONS, "sample", "all"],
  example: "verify --base-url https://service.example --sample 500",
  execute: async (values, context) => {
    const found = await withService(values, context, ({ ports, settings }) =>
      verify(ports, settings, values.sample),
    ).catch((error: unknown) => {
      if (!(error instanceof SyncError)) throw error;
      const { code, message, fields, cause } = error;
      const here = textHere(message, nextValues(context.given, values.account));
      throw new SyncError(code, here, { fields, cause });
    });
    if ("outcome" in found) return reportSkipped(context, found);
    context.result({ json: verifiedCounts(found), line: `ok          ${verifiedText(found)}` });
    if (!values.json) context.stdout.lines(describe(found, context.clock.now()));
    return EXIT.done;
  },
  failureJson,
});

export const CHECKS: readonly CommandOfList[] = [checkCommand, verifyCommand];

function describe(found: Verified, nowMs: number): readonly string[] {
  const { head, sample, uuids } = found;
  const madeAt = age(madeAtMs(head), nowMs);
  const random = sample < head.events ? `${countText(sample)} random events` : "all events";
  const lines = [
    `${random} of the ${plural(head.events, "event")} that readers see (snapshot ${head.snapshot_id}, ${madeAt}), fetched again`,
    `  ${verifiedText(found)}`,
    ...named("changed", uuids.changed),
    ...named("gone", uuids.gone),
    ...named("forbidden", uuids.forbidden),
    ...named("too large", uuids.oversize),
    ...named("too deep", uuids.too_deep),
  ];
  if (uuids.same.length === sample) return lines;
  const next = head.pinned
    ? "The account is pinned: what the service has now is held until you accept it."
    : "The next run brings what the service has now.";
  return [...lines, `  ${next}`];
}

/** A line for each of the first ones. */
function named(title: string, uuids: readonly string[]): readonly string[] {
  const more = uuids.length - MOST_NAMED;
  return [
    ...uuids.slice(0, MOST_NAMED).map((uuid, index) => `  ${(index === 0 ? title : "").padEnd(9)}  ${uuid}`),
    ...(more > 0 ? [`  ${" ".repeat(9)}  and ${countText(more)} more`] : []),
  ];
}
