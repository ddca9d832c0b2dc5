// `views`: writes `views.sql` again, which names its files by absolute path, after the warehouse was moved or copied.

import { join, resolve } from "node:path";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { VIEWS_FILE } from "../../../lambdas/job/storage/layout.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { EXIT } from "../output/exit-code.ts";
import type { CommandSpec } from "../wiring/command.ts";
import { openDirectory, refuseMissingWarehouse } from "../wiring/open-warehouse.ts";

const OPTIONS = ["config", "warehouse", "json"] as const;

export const viewsCommand: CommandSpec<(typeof OPTIONS)[number]> = {
  name: "views",
  summary:
    "write views.sql again after the warehouse was moved or copied; needs no address and no credentials",
  options: OPTIONS,
  example: "views --warehouse ./warehouse",
  execute: async (values, { cwd, stdout, stderr }) => {
    if (isS3(values.warehouse)) {
      throw new SyncError(
        "CONFIG_INVALID",
        `${VIEWS_FILE} belongs to a warehouse on this computer. The tables of one in S3 are in Athena.`,
      );
    }
    const directory = resolve(cwd, values.warehouse);
    const { store, views } = openDirectory(directory, stderr);
    await refuseMissingWarehouse(store, values, cwd);
    await views.refresh();
    const file = join(directory, VIEWS_FILE);
    if (values.json) stdout.json({ file });
    else stdout.lines([`${file} names the files where they lie now.`]);
    return EXIT.done;
  },
};
