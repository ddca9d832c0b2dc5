// All that a world needs of a version of the job. A frozen version is this file and what it imports, bundled.

import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { GlueCatalog } from "../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { check } from "../../../lambdas/job/commands/check.ts";
import { acceptOrRollback, removeAccount, retire } from "../../../lambdas/job/commands/decisions.ts";
import { diff } from "../../../lambdas/job/commands/diff.ts";
import { discover } from "../../../lambdas/job/commands/discover.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { abandonRun } from "../../../lambdas/job/run/hand-over/hand-over.ts";
import { serviceOpener } from "../../../lambdas/job/run/open-account.ts";
import { continueRun, run } from "../../../lambdas/job/run/run.ts";
import { NoResponse } from "../../../lambdas/job/service/http/transport.ts";
import { S3Store } from "../../../lambdas/job/storage/s3/s3-store.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";

export const JOB = {
  abandonRun,
  acceptOrRollback,
  accountStore,
  check,
  continueRun,
  diff,
  discover,
  DuckdbCatalog,
  GlueCatalog,
  NoResponse,
  removeAccount,
  retire,
  run,
  S3Store,
  serviceOpener,
  SyncError,
};

export type Job = typeof JOB;
