// Logins: one for a session, one more for each refused session, and never again with a password that was refused. A session
// that was never accepted is refused when three requests with it were.

import type { Model } from "./model.ts";
import type { ProcessFacts } from "./process-facts.ts";

const TRIES_OF_A_NEW_SESSION = 3;
/** The most tries of one login: it is repeated only if no answer came. */
const MOST_TRIES = 6;
const DAY_MS = 24 * 60 * 60_000;

const isRefused = (status: number | undefined): boolean => status === 404 || status === 401;

/** Before a login is sent. */
export function checkLogin(model: Model, { name, start, version }: ProcessFacts, password: string): void {
  const own = model.logins.filter(({ process }) => process === name);
  if (own.some((login) => isRefused(login.status) && login.password === password)) {
    model.fail(`${name} sends a password again that was refused`);
    return;
  }
  const last = own.at(-1);
  const isPatient = version === "today" && last?.wasAccepted === false;
  if (last?.status === 200 && last.refusals < (isPatient ? TRIES_OF_A_NEW_SESSION : 1)) {
    model.fail(`${name} logs in again although its session was not refused`);
    return;
  }
  const unanswered = own.slice(own.findLastIndex(({ status }) => status !== undefined) + 1);
  if (unanswered.length >= MOST_TRIES) model.fail(`${name} logs in again and again`);
  const refusedAtMs = model.refusals.get(password);
  const isWithheld = refusedAtMs !== undefined && model.world.timeline.nowMs - refusedAtMs < DAY_MS;
  if (start.by === "schedule" && isWithheld)
    model.fail(`${name} sends a password that was refused to an earlier start`);
}

/** A process has ended by itself: what it learned of the credentials counts for the schedule from now on. */
export function rememberRefusal(model: Model, { name, start }: ProcessFacts): void {
  const { setting } = model.world.plan;
  const last = model.logins.findLast(({ process }) => process === name);
  if (last?.status === 200) model.refusals.clear();
  // A file on a laptop has no versions, and what goes wrong may keep a process from remembering.
  if (setting.warehouse !== "bucket" || last === undefined || model.isTroubled(start.id)) return;
  if (isRefused(last.status)) model.refusals.set(last.password, model.world.timeline.nowMs);
}
