// A run's name: its start instant in UTC, in a form that sorts by time and fits a file name.

/** `2026-11-21T06-00-00.000Z`. Sorting names sorts instants. */
export function formatRunId(instantMs: number): string {
  return new Date(instantMs).toISOString().replaceAll(":", "-");
}

/** The instant a run id names, in milliseconds since the Unix epoch; undefined if it is no run id. */
export function runInstant(runId: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}\.\d{3}Z$/.test(runId)) return undefined;
  const [date, time = ""] = runId.split("T");
  const instantMs = Date.parse(`${date}T${time.replaceAll("-", ":")}`);
  return Number.isNaN(instantMs) ? undefined : instantMs;
}
