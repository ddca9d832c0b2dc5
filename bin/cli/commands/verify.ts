// `verify`: fetches random events of what readers see again, and says how many are still the same.

import { countText } from "../../../lambdas/job/run/record/count-text.ts";
import {
  type Verified,
  verifiedCounts,
  verifiedText,
  verify,
} from "../../../lambdas/job/run/verify/verify.ts";
import { givenSettings, SERVICE_OPTIONS } from "../options/options.ts";
import { madeAtMs } from "../output/describe-status.ts";
import { EXIT } from "../output/exit-code.ts";
import { failureJson } from "../output/run-report.ts";
import { age, plural } from "../output/words.ts";
import type { CommandSpec } from "../wiring/command.ts";
import { servicePorts } from "../wiring/service-ports.ts";

const OPTIONS = [...SERVICE_OPTIONS, "sample", "all"] as const;

export const verifyCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "verify",
  summary: "fetch random events again, and compare them with what readers see",
  options: OPTIONS,
  example: "verify --base-url https://service.example --sample 500",
  execute: async (values, context) => {
    const settings = givenSettings(values);
    const { ports, display } = await servicePorts(values, settings, context);
    const found = await verify(ports, settings, values.sample).finally(() => display.end());
    if ("outcome" in found) {
      context.result({ json: found, line: `${found.outcome.padEnd(11)} ${found.reason}` });
      context.stderr.message(`${found.outcome}: ${found.explanation}`);
      return EXIT.skipped;
    }
    context.result({ json: verifiedCounts(found), line: `ok          ${verifiedText(found)}` });
    if (!values.json) context.stdout.lines(describe(found, ports.clock.now()));
    return EXIT.done;
  },
  failureJson,
};

function describe({ head, sample, counts, first }: Verified, nowMs: number): readonly string[] {
  const madeAt = age(madeAtMs(head), nowMs);
  const random = sample < head.events ? `${countText(sample)} random events` : "all events";
  const lines = [
    `${random} of the ${plural(head.events, "event")} that readers see (snapshot ${head.snapshot_id}, ${madeAt}), fetched again`,
    `  ${verifiedText({ counts })}`,
    ...named("changed", first.changed, counts.changed),
    ...named("gone", first.gone, counts.gone),
    ...named("forbidden", first.forbidden, counts.forbidden),
    ...named("too large", first.oversize, counts.oversize),
    ...named("too deep", first.too_deep, counts.too_deep),
  ];
  if (counts.same === sample) return lines;
  const next = head.pinned
    ? "The account is pinned: what the service has now is held until you accept it."
    : "The next run brings what the service has now.";
  return [...lines, `  ${next}`];
}

/** A line for each uuid. */
function named(title: string, uuids: readonly string[], total: number): readonly string[] {
  const more =
    total > uuids.length ? [`  ${" ".repeat(9)}  and ${countText(total - uuids.length)} more`] : [];
  return [...uuids.map((uuid, index) => `  ${(index === 0 ? title : "").padEnd(9)}  ${uuid}`), ...more];
}
