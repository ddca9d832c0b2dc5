// The log as structured lines in CloudWatch, each with the ids of its request, account and run.

import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import type { LogFields, Logger } from "../../job/runtime/logger.ts";

/** A logger whose lines have the ids of the invocation, its account and its run. */
export interface FunctionLog extends Logger {
  /** Replaces the ids of the previous invocation by this one's request id. */
  begin(context: Context): void;
  /** Adds ids to all later lines. */
  about(fields: { readonly account?: string; readonly run_id?: string }): void;
}

export function functionLog(): FunctionLog {
  const logger = new PowertoolsLogger({ serviceName: "brand-events-sync" });
  return {
    begin: (context) => {
      logger.resetKeys();
      logger.addContext(context);
    },
    about: (fields) => logger.appendKeys(fields),
    debug: (message, fields: LogFields = {}) => logger.debug(message, { ...fields }),
    info: (message, fields: LogFields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields: LogFields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields: LogFields = {}) => logger.error(message, { ...fields }),
  };
}
