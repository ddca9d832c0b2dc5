// The one place that knows where things lie in the store (design section 5).

const five = (n: number): string => String(n).padStart(5, "0");

/** The ten digits that number a publication everywhere: `0000000001`. */
export const publicationId = (n: number): string => String(n).padStart(10, "0");

export const layout = {
  /** A snapshot's prefix, with its closing slash. */
  snapshot: (account: string, snapshotId: string) => `snapshots/${account}/${snapshotId}/`,
  snapshots: (account: string) => `snapshots/${account}/`,
  part: (account: string, snapshotId: string, index: number) =>
    `snapshots/${account}/${snapshotId}/part-${five(index)}.ndjson.gz`,
  manifest: (account: string, snapshotId: string) => `snapshots/${account}/${snapshotId}/_manifest.json`,
  leftOut: (account: string, snapshotId: string) => `snapshots/${account}/${snapshotId}/_left_out.ndjson`,
  held: (account: string, snapshotId: string) => `snapshots/${account}/${snapshotId}/_held.json`,
  retired: (account: string, snapshotId: string) => `snapshots/${account}/${snapshotId}/_retired.json`,

  /** The prefix of what one publication changed, with its closing slash. */
  changes: (account: string, publication: string, snapshotId: string) =>
    `changes/${account}/${publication}/${snapshotId}/`,
  changesPart: (account: string, publication: string, snapshotId: string, index: number) =>
    `changes/${account}/${publication}/${snapshotId}/part-${five(index)}.ndjson.gz`,

  allPublications: "publications/",
  publications: (account: string) => `publications/${account}/`,
  publication: (account: string, publication: string) => `publications/${account}/${publication}.ndjson`,

  allRunLogs: "run-log/",
  runLogs: (account: string) => `run-log/${account}/`,
  runLog: (account: string, runId: string, attempt: number) =>
    `run-log/${account}/${runId}-${attempt}.ndjson`,

  runs: (account: string) => `runs/${account}/`,
  run: (account: string, runId: string) => `runs/${account}/${runId}/`,
  plan: (account: string, runId: string) => `runs/${account}/${runId}/plan.ndjson.gz`,
  shard: (account: string, runId: string, index: number) =>
    `runs/${account}/${runId}/shard-${five(index)}.ndjson.gz`,
  /** What the nth interrupted start had finished of shards that it left unfinished. */
  partialShards: (account: string, runId: string) => `runs/${account}/${runId}/kept-`,
  partialShard: (account: string, runId: string, n: number) =>
    `runs/${account}/${runId}/kept-${five(n)}.ndjson.gz`,
  outcome: (account: string, runId: string) => `runs/${account}/${runId}/outcome.json`,

  /** A file that `check` creates and deletes to see whether it may. */
  writeCheck: (account: string, token: string) => `runs/${account}/check-${token}.json`,

  lease: (account: string) => `accounts/${account}/lease.json`,
  loginRefused: (account: string) => `accounts/${account}/login-refused.json`,
} as const;
