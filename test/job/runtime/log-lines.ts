// A logger that keeps every line, message and fields, for tests to read.

import type { LogFields, Logger } from "../../../lambdas/job/runtime/logger.ts";

export class LogLines implements Logger {
  readonly lines: string[] = [];

  debug(message: string, fields?: LogFields): void {
    this.#add("debug", message, fields);
  }

  info(message: string, fields?: LogFields): void {
    this.#add("info", message, fields);
  }

  warn(message: string, fields?: LogFields): void {
    this.#add("warn", message, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#add("error", message, fields);
  }

  get text(): string {
    return this.lines.join("\n");
  }

  #add(level: string, message: string, fields: LogFields = {}): void {
    this.lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  }
}
