// The lease of a process on another computer, which lives or has just crashed.

export function livingLease(nowMs: number, runId = "run-1"): string {
  const at = (ms: number): string => new Date(ms).toISOString();
  const holder = { token: "another" };
  return JSON.stringify({
    run_id: runId,
    holder,
    renewed_at: at(nowMs),
    expires_at: at(nowMs + 60_000),
    use: [],
    use_since: at(nowMs - 3_600_000),
  });
}
