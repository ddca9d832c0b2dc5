// What follows a finished work must not fail it: a failure is logged, and a later start does it again.

import { SyncError } from "../errors/sync-error.ts";
import type { Logger } from "../runtime/logger.ts";

export async function orWarn(logger: Logger, what: string, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    logger.warn(`${what}: ${error.message}`, { error_code: error.code });
  }
}
