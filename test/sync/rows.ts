// Rows of the run log for tests to change.

import type { Preview } from "../../lambdas/job/run/record/held-mark.ts";
import type { RunLogEntry } from "../../lambdas/job/run/record/run-log.ts";

export const PUBLISHED: RunLogEntry = {
  run_id: "2026-11-21T06-00-00.000Z",
  attempt: 1,
  trigger: "schedule",
  outcome: "PUBLISHED",
  snapshot_id: "2026-11-21T06-00-00.000Z",
  listed: 1_007,
  events: 1_000,
  added: 3,
  changed: 2,
  removed: 1,
  gone: 4,
  forbidden: 2,
  rejected: 1,
  requests: 900,
  retries: 6,
  throttled: 5,
  logins: 1,
  bytes: 12_345,
  started_at: "2026-11-21T06:00:01.000Z",
  seconds: 299.5,
  reason: null,
  error_code: null,
  error_message: null,
  version: "0.1.0",
  repeated: 0,
};

export const HELD: RunLogEntry = {
  ...PUBLISHED,
  outcome: "HELD",
  added: null,
  changed: null,
  removed: null,
  reason: "DROPPED",
};

export const PREVIEW: Preview = {
  base_snapshot_id: "2026-11-20T06-00-00.000Z",
  added: 0,
  changed: 12,
  removed: 412,
  gone: 4,
  forbidden: 2,
  rejected: 1,
  oversize: 1,
  too_deep: 0,
  unreadable: 0,
  uuids: {
    added: [],
    changed: ["c"],
    removed: ["r"],
    gone: ["g"],
    forbidden: ["f"],
    oversize: ["o"],
    too_deep: [],
    unreadable: [],
  },
};

const NOTHING = { events: null, added: null, changed: null, removed: null } as const;
const NOTHING_MISSING = { gone: null, forbidden: null, rejected: null } as const;

export const FAILED: RunLogEntry = {
  ...PUBLISHED,
  ...NOTHING,
  ...NOTHING_MISSING,
  outcome: "FAILED",
  snapshot_id: null,
  listed: null,
  error_code: "LOGIN_REFUSED",
  error_message: "wrong password",
};

export const SKIPPED: RunLogEntry = {
  ...PUBLISHED,
  ...NOTHING,
  ...NOTHING_MISSING,
  outcome: "SKIPPED",
  snapshot_id: null,
  listed: null,
  requests: null,
  retries: null,
  throttled: null,
  logins: null,
  bytes: null,
  reason: "LEASE_TAKEN",
};
