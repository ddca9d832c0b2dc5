// Publications as tests need them: a valid one, with what matters to the test put in its place.

import type { Publication } from "../../../lambdas/job/storage/publication-log.ts";

export const aPublication = (over: Partial<Publication> = {}): Publication => ({
  publication: "0000000001",
  action: "run",
  snapshot_id: "2026-11-21T06-00-00.000Z",
  base_snapshot_id: null,
  published_at: "2026-11-21T06:00:30.000Z",
  events: 3,
  added: 3,
  changed: 0,
  removed: 0,
  run_id: "2026-11-21T06-00-00.000Z",
  pinned: false,
  write_id: "write-1",
  ...over,
});
