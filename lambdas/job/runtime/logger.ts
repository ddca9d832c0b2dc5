// The log of a run. Messages and fields never carry a secret, a cookie, an e-mail address or a body.

export type LogFields = Readonly<
  Record<string, string | number | boolean | null | readonly string[] | undefined>
>;

export interface Logger {
  /** Details for a person who looks into a problem: each retry, for example. */
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

/** In the order of their severity. */
export const LOG_LEVELS = ["error", "warn", "info", "debug"] as const satisfies readonly (keyof Logger)[];
