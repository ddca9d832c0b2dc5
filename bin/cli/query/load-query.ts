// What needs DuckDB, loaded where it is needed.

import { codeOf, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import packageJson from "../../../package.json" with { type: "json" };

/** DuckDB is an optional dependency, loaded for `query` and `columns` alone. */
export async function withDuckDB(): Promise<typeof import("./query.ts")> {
  await import("@duckdb/node-api").catch((error: unknown) => {
    const code = codeOf(error);
    const install = `npm install --global @duckdb/node-api@${packageJson.optionalDependencies["@duckdb/node-api"]}`;
    throw new SyncError(
      "QUERY_FAILED",
      `query needs DuckDB, as columns does, which cannot be loaded here${code ? ` (${code})` : ""}. Install it: ${install} (in a project without --global). No other command needs it.`,
      { cause: error },
    );
  });
  return await import("./query.ts");
}
