// Logs what a publication changed in the fields of events.

import { SyncError } from "../../errors/sync-error.ts";
import { describeFieldChanges } from "../../snapshot/fields/field-changes.ts";
import type { Publication } from "../../storage/publication-log.ts";
import type { RunPorts } from "../run-ports.ts";
import { publishedFieldChanges } from "./published-field-changes.ts";

/** Against the snapshot that was the head before; nothing for the first one. */
export async function logFieldChanges(
  { store, logger }: Pick<RunPorts, "store" | "logger">,
  account: string,
  publication: Publication,
): Promise<void> {
  try {
    const changes = await publishedFieldChanges(store, account, publication);
    for (const line of changes ? describeFieldChanges(changes) : []) logger.info(line);
  } catch (error) {
    // The snapshot is published: a failure here must not fail the run.
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`the changes of the events' fields could not be compared: ${error.message}`, {
      error_code: error.code,
    });
  }
}
