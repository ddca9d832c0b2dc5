// The end of a run, an accept or a rollback: log, metrics, an event, and the answer to whoever asked.

import type { RunLogEntry } from "../job/run/record/run-log.ts";
import type { RunResult } from "../job/run/record/run-result.ts";
import type { Limit } from "../job/run/run-ports.ts";
import { findPublicationOf, readLog } from "../job/storage/publication-log.ts";
import type { Store } from "../job/storage/store.ts";
import type { FunctionPorts } from "./function-host.ts";
import { isRun, metricsOf } from "./metrics.ts";
import { type ResponseFacts, responseOf } from "./response.ts";
import { runEvent } from "./run-event.ts";

export interface Concluding {
  readonly ports: Pick<FunctionPorts, "store" | "log" | "metrics" | "announce">;
  readonly requestsPerMinute: Limit;
  readonly facts: Omit<ResponseFacts, "publication">;
}

/** Throws the run's error where it failed. */
export async function conclude(result: RunResult, concluding: Concluding): Promise<object> {
  const { ports, requestsPerMinute, facts } = concluding;
  const { outcome, run_id, reason, attempt, seconds } = result.row;
  ports.metrics(facts.account, metricsOf(result, requestsPerMinute));
  const publication = await tell(result, concluding);
  if (result.error) throw result.error;
  ports.log.info(`ended as ${outcome}`, { outcome, run_id, attempt, reason, seconds });
  return responseOf(result, { ...facts, publication });
}

/**
 * Sends the event and returns the publication's number. What is published stays published, whatever becomes of its
 * event; another start of the same run sends it again.
 */
async function tell(result: RunResult, { ports, facts }: Concluding): Promise<string | undefined> {
  const { account } = facts;
  let publication: string | undefined;
  try {
    publication = await publicationOf(ports.store, account, result.row);
    const event = runEvent(account, result, publication);
    if (event) await ports.announce(event);
  } catch (error) {
    const kind = error instanceof Error ? error.name : typeof error;
    ports.log.warn("the event about this outcome could not be sent", { error_kind: kind });
    ports.metrics(account, { EventNotSent: 1 });
  }
  return publication;
}

async function publicationOf(
  store: Store,
  account: string,
  { outcome, trigger, run_id: runId }: RunLogEntry,
): Promise<string | undefined> {
  if (outcome !== "PUBLISHED") return undefined;
  if (isRun(trigger)) return (await findPublicationOf(store, account, runId))?.publication;
  return (await readLog(store, account)).findLast(({ run_id }) => run_id === runId)?.publication;
}
