// How much a command logs.

export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Whether a line of this level is written where `chosen` is the least severe that is. */
export function isLogged(level: LogLevel, chosen: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(chosen);
}
