// Ends of runs and starts, of each code and each reason: what the places that tell a person of them are shown with.

import { parseCredentials } from "../../lambdas/job/credentials/credentials.ts";
import { inOrder } from "../../lambdas/job/errors/advice.ts";
import { addRestart, damaged, ERROR_CODES, RESTORE, SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { noneReadable } from "../../lambdas/job/run/collect/read-list.ts";
import { StoppedEarly } from "../../lambdas/job/run/collect/time-budget.ts";
import { checkColumns } from "../../lambdas/job/run/publish/columns.ts";
import { guard } from "../../lambdas/job/run/publish/guard.ts";
import type { HoldFacts } from "../../lambdas/job/run/record/held-mark.ts";
import { basicMethod } from "../../lambdas/job/service/auth/by-password.ts";
import {
  incomplete,
  refused,
  tooLarge,
  unexpected,
} from "../../lambdas/job/service/events/list/list-errors.ts";
import { NoResponse } from "../../lambdas/job/service/http/transport.ts";
import { AddressDoubt } from "../../lambdas/job/service/requests/address-doubt.ts";
import { permanentProblem } from "../../lambdas/job/service/requests/connection-problem.ts";
import {
  attemptsExhausted,
  BadStatus,
  redirected,
  throttled,
  unexpectedStatus,
} from "../../lambdas/job/service/requests/failure.ts";
import { fileError } from "../../lambdas/job/storage/directory/file-error.ts";

const URL_OF_LIST = new URL("https://service.example/v1/events");
const REQUEST = "GET /v1/events";
const FACTS = { request: REQUEST, received: 40 };

function errorOf(work: () => unknown): SyncError {
  try {
    work();
  } catch (error) {
    if (error instanceof SyncError) return error;
  }
  throw new Error("nothing was thrown");
}

function response(status: number, headers: Readonly<Record<string, string>> = {}) {
  const named = new Map(Object.entries(headers).map(([name, value]) => [name, [value]]));
  return { status, headers: named, body: { kind: "unread" }, decodedBytes: 0 } as const;
}

const fileProblem = (code: string): SyncError =>
  fileError(Object.assign(new Error(code), { code }), "write", "/srv/warehouse/runs/x.json");

const basic = basicMethod({} as Parameters<typeof basicMethod>[0]).unauthenticated;

/** Each made by what throws it. */
export const ERRORS: Readonly<Record<string, SyncError>> = {
  "other columns": errorOf(() =>
    checkColumns(
      [{ name: "brand", type: "VARCHAR", typedBy: "run", pointers: ["/brand"], isOwn: true } as never],
      [],
    ),
  ),
  "unusable credentials": errorOf(() => parseCredentials("{}")),
  "basic refused": new AddressDoubt("UNAUTHENTICATED", basic.what, {
    ifNew: inOrder(basic.next, basic.ifNew),
    fields: { request: REQUEST },
  }),
  "no list": refused(REQUEST, 403, 0, FACTS),
  "no details": noneReadable(5),
  "no connection": attemptsExhausted({ request: REQUEST, failures: 6 }, new NoResponse("ECONNREFUSED")),
  "no host": permanentProblem(
    { request: REQUEST, url: URL_OF_LIST, failures: 1 },
    new NoResponse("ENOTFOUND"),
    false,
  ) as SyncError,
  "busy service": attemptsExhausted({ request: REQUEST, failures: 6 }, new BadStatus(503)),
  "too many requests": attemptsExhausted({ request: REQUEST, failures: 6 }, new BadStatus(429)),
  "too many requests at once": throttled(REQUEST),
  "a status without a meaning": unexpectedStatus(REQUEST, 418),
  "a redirect to another host": redirected(
    REQUEST,
    URL_OF_LIST,
    response(302, { location: "https://other.example/" }),
  ),
  "a redirect to a login page": redirected(REQUEST, URL_OF_LIST, response(302, { location: "/login" })),
  "a part of the list": incomplete("says at /meta/total that there are 80", 40, ["page={page}"], FACTS),
  "a list that is paged in another way": unexpected("The list goes round in a circle", FACTS),
  "a list that is too large": tooLarge("has more than 1 GiB", FACTS),
  "no right to write": fileProblem("EACCES"),
  "a full disk": fileProblem("ENOSPC"),
  "too many open files": fileProblem("EMFILE"),
  "a damaged file": damaged("runs/x.json", "it is not JSON", RESTORE),
  "a damaged head": addRestart(damaged("events/x", "it is missing", RESTORE)) as SyncError,
  "a time limit": new StoppedEarly({ reason: "TIME_LIMIT", waitMs: 0 }, "40 of 80 events are staged"),
  ...Object.fromEntries(
    ERROR_CODES.map((code) => [`${code} of which nothing more is known`, new SyncError(code, "Something.")]),
  ),
};

const LIMITS = { maxDropPercent: 20, maxGrowthPercent: 50, maxMissingPercent: 1 };
const COUNTS = {
  ...{ listed: 1_000, events: 1_000, gone: 0, forbidden: 0, rejected: 0 },
  ...{ oversize: 0, too_deep: 0, unreadable: 0, readings: 1, unstable: 0 },
  accepted: undefined,
  headEvents: 1_000,
  incomplete: { events: 0, fields: [] },
};

const heldBy = (counts: Partial<typeof COUNTS> | object) => {
  const hold = guard({ ...COUNTS, ...counts }, LIMITS);
  if (hold === undefined) throw new Error("nothing is held");
  return hold;
};

/** Each made by the guard, but for the last one. */
export const HOLDS: Readonly<Record<string, HoldFacts>> = {
  "an empty list": heldBy({ listed: 0, events: 0 }),
  "no details of any": heldBy({ events: 0, gone: 1_000 }),
  "an unsteady list": heldBy({ unstable: 40, readings: 3 }),
  "a list that could be read once": heldBy({ unstable: 40 }),
  "fewer events": heldBy({ events: 700, listed: 700 }),
  "more events": heldBy({ events: 1_700, listed: 1_700 }),
  "more events than none": heldBy({ events: 5, listed: 5, headEvents: 0 }),
  "few rows": heldBy({ events: 700, gone: 200, forbidden: 100, headEvents: undefined }),
  "missing events": heldBy({ events: 960, gone: 38, forbidden: 2 }),
  "more missing events than were accepted": heldBy({
    ...{ events: 900, gone: 100 },
    accepted: { listed: 1_000, gone: 50, forbidden: 0, rejected: 0 },
  }),
  "missing events that were asked for once": heldBy({ events: 997, gone: 3, isUnconfirmed: true }),
  "unreadable events": heldBy({
    ...{ listed: 5_000, events: 4_988, headEvents: 5_000, rejected: 12, unreadable: 12 },
    newlyUnreadable: Array.from({ length: 12 }, (_, n) => `u${n}`),
  }),
  "a field that is required": heldBy({
    incomplete: {
      events: 40,
      fields: [
        { pointer: "/date", events: 40 },
        { pointer: "/uuid", events: 0 },
      ],
    },
  }),
  "a pinned account": { reason: "PINNED", publication: "0000000007" },
};
