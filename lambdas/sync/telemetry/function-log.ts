// The run's log as structured lines in CloudWatch, each with the request, the account and the run it belongs to.

import { Logger as PowertoolsLogger } from "@aws-lambda-powertools/logger";
import type { Context } from "aws-lambda";
import type { LogFields, Logger } from "../../job/runtime/logger.ts";

/** A logger whose lines carry what it was told about the invocation. */
export interface FunctionLog extends Logger {
  /** Forgets the invocation before and carries this one's request id. */
  begin(context: Context): void;
  /** Adds to every line from here on. */
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
    info: (message, fields: LogFields = {}) => logger.info(message, { ...fields }),
    warn: (message, fields: LogFields = {}) => logger.warn(message, { ...fields }),
    error: (message, fields: LogFields = {}) => logger.error(message, { ...fields }),
  };
}
