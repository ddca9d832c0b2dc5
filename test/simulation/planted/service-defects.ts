// Defects of the lease, the budget, the login and the requests.

import type { PlantedDefect } from "./planted-defect.ts";

export const SERVICE_DEFECTS: readonly PlantedDefect[] = [
  {
    name: "check works without the lease",
    file: "commands/check.ts",
    from: 'withLease(ports, settings, "check", tryAll)',
    to: "tryAll(openWithoutLease, ports, unused)",
    isPast: true,
  },
  {
    name: "the lease's use of the budget is not carried over",
    file: "run/lease/lease-account.ts",
    from: "newRateLimiter(ports, settings, lease.earlier)",
    to: "newRateLimiter(ports, settings)",
  },
  {
    name: "a living lease is taken over",
    file: "run/lease/lease.ts",
    from: "const held = found && heldLease(found, nowMs);",
    to: "const held = found && heldLease(found, nowMs + 50_000);",
  },
  {
    name: "requests in flight do not count",
    file: "service/rate-limit/rate-limiter.ts",
    from: "if (this.#window.used.requests + this.#inFlight >= requests) return false;",
    to: "if (this.#window.used.requests >= requests) return false;",
  },
  {
    name: "a page that says that more follow is taken for the whole list",
    file: "service/events/list/fetch-list.ts",
    from: "if (next === undefined && nextPage === undefined && hints.more)",
    to: "if (next === null && hints.more)",
  },
  {
    name: "a list that ends before its total is taken for the whole",
    file: "service/events/list/fetch-list.ts",
    from: "this.#total.value > received)",
    to: "this.#total.value < received)",
  },
  {
    name: "a refused login is sent again",
    file: "service/auth/by-password.ts",
    from: "if (!isRefusedLogin(error) || !(await credentials.haveChanged())) throw error;",
    to: "if (!isRefusedLogin(error)) throw error;",
  },
  {
    name: "the schedule does not remember a refused login",
    file: "run/open-account.ts",
    from: "if (isSchedule || ports.requestId !== undefined) {",
    to: "if (ports.requestId === ports.store.account) {",
  },
  {
    name: "each late 401 of an old session logs in again",
    file: "service/requests/authenticator.ts",
    from: "if (!wasTrial && isLate) return this.authorize(signal);",
    to: "",
  },
  {
    name: "a new session that is refused once is replaced at once",
    file: "service/auth/by-password.ts",
    from: "pausesMs: NEW_PROOF_PAUSES_MS,",
    to: "",
  },
  {
    name: "a session that is over in other words than 401 ends the run",
    file: "service/requests/authenticator.ts",
    from: 'return isOver && (state !== "fresh" || proof.isStored === true);',
    to: "return isOver && proof.isStored === true;",
  },
  {
    name: "a renewed access token is used before it is stored",
    file: "service/auth/oauth/token-rotation.ts",
    from: "const kept = await storeRotated(this.#options, stored, tokens);",
    to: "const kept = { version: stored.version, tokens };",
  },
  {
    name: "an event is left out because of one answer",
    file: "run/collect/refusals.ts",
    from: "return this.#enough.signal.aborted ? first : request();",
    to: "return first;",
  },
  {
    name: "an event that is refused is asked for again at once",
    file: "run/collect/refusals.ts",
    from: "return Math.max(AGAIN_AFTER_MS, ",
    to: "return Math.max(0, ",
  },
  {
    name: "the first answers count as soon as one event is left out",
    file: "run/collect/refusals.ts",
    from: "if (!areTooManyMissing({ ...this.#missing, accepted: known.accepted }, settings)) return;",
    to: "",
  },
  {
    name: "a list that repeats events is read once",
    file: "run/collect/read-list.ts",
    from: "if (readings === 1 && list.overlapping === 0)",
    to: "if (readings === 1)",
    isPast: true,
  },
  {
    name: "a list whose readings differ too much is published",
    file: "run/publish/guard.ts",
    from: "if (unstable > most) {",
    to: "if (unstable > listed) {",
  },
  {
    name: "the last of readings that differ is taken for the list",
    file: "run/collect/read-list.ts",
    from: "return { events, rejected: list.rejected, repeated, readings, unstable };",
    to: "return { events: list.events, rejected: list.rejected, repeated, readings, unstable };",
  },
];
