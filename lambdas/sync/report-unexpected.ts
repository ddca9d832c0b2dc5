// Reports an unforeseen error: no run result says it, because nothing knows how far the run got.

import { failedStartEvent } from "../job/run/record/run-event.ts";
import { UNEXPECTED_ERROR_METRICS } from "./telemetry/attempt-metrics.ts";
import { failedMail, withMail } from "./telemetry/mail-of.ts";
import { type TellPorts, tell } from "./telemetry/tell.ts";

/** @param runId null where the invocation was no run, or did not get as far */
export async function reportUnexpected(
  ports: TellPorts,
  account: string,
  runId: string | null,
  error: unknown,
): Promise<void> {
  ports.metrics(account, UNEXPECTED_ERROR_METRICS);
  const { detailType, detail } = failedStartEvent(account, error);
  const event = { detailType, detail: { ...detail, run_id: runId, trigger: null, finished: false } };
  await tell(ports, account, async () => withMail(event, failedMail(account, event.detail, "failed")));
}
