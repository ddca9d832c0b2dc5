// The function's response to a verification, short enough to read in the console.

import type { Skipped } from "../job/run/lease/skipped.ts";
import { verifiedCounts, verifiedText } from "../job/run/verify/verified-text.ts";
import type { Verified } from "../job/run/verify/verify.ts";
import type { FunctionPorts } from "./function-ports.ts";

/** A verification is no run, so it has no metrics of one. That the login works is over for its alarm. */
export function verifyResponse(
  ports: Pick<FunctionPorts, "log" | "metrics">,
  account: string,
  found: Verified | Skipped,
): object {
  if ("outcome" in found) return { account, ...found };
  const { head, sample, first } = found;
  const summary = verifiedText(found);
  ports.log.info(`verified ${sample} events: ${summary}`, { ...verifiedCounts(found) });
  if (sample > 0) ports.metrics(account, { LoginRefused: 0 });
  const changed_uuids = first.changed.length === 0 ? {} : { changed_uuids: first.changed };
  return {
    account,
    snapshot_id: head.snapshot_id,
    summary,
    ...verifiedCounts(found),
    ...changed_uuids,
  };
}
