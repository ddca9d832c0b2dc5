// Logins: one for a session, one more for each refused request, and never again with a password that was refused.

import type { Model } from "./model.ts";

export interface Login {
  readonly process: string;
  readonly password: string;
  /** Undefined: none came, or not yet. */
  status: number | undefined;
  /** A request with its session was refused. */
  wasSessionRefused: boolean;
}

/** The most tries of one login: it is repeated only if no answer came. */
const MOST_TRIES = 6;

export function checkLogins(model: Model, login: Login): void {
  const { process, password } = login;
  const own = model.logins.filter((each) => each.process === process);
  const isRefused = own.some(
    (each) => (each.status === 404 || each.status === 401) && each.password === password,
  );
  if (isRefused) {
    model.fail(`${process} sends a password again that was refused`);
    return;
  }
  const last = own.at(-1);
  if (last?.status === 200 && !last.wasSessionRefused) {
    model.fail(`${process} logs in again although its session was accepted`);
    return;
  }
  const unanswered = own.slice(own.findLastIndex(({ status }) => status !== undefined) + 1);
  if (unanswered.length >= MOST_TRIES) model.fail(`${process} logs in again and again`);
}
