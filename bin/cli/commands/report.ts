// `report`: one page that shows how the accounts of a warehouse are.

import { resolve } from "node:path";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";
import { isS3 } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { accountStore } from "../../../lambdas/job/storage/store.ts";
import { ANY_SHELL, sayError } from "../../../lambdas/words/style.ts";
import { PLACE_OPTIONS } from "../options/options.ts";
import { EXIT } from "../output/exit-code.ts";
import { styleOf } from "../output/next-command.ts";
import { writeOutFile } from "../query/out-file.ts";
import { makeReport } from "../report/report-page.ts";
import { command } from "../wiring/command.ts";
import { openWarehouse, refuseUnknownAccount, warehouseAccounts } from "../wiring/open-warehouse.ts";

const LIMIT_OPTIONS = ["requestsPerMinute", "limitWindowSeconds"] as const;

const DEFAULT_FILE = "report.html";

export const reportCommand = command({
  name: "report",
  group: "Every day",
  summary:
    "make one HTML page of events, runs, requests, fields and storage; without --account for all accounts",
  options: [...PLACE_OPTIONS, "out", "json"],
  ofAll: true,
  ofEach: LIMIT_OPTIONS,
  example: "report --out report.html",
  execute: async (values, context) => {
    const { given, cwd, stdout, stderr, clock, signal } = context;
    const { store } = await openWarehouse(values, context);
    const all = await abortable(warehouseAccounts(store, values), signal);
    const isOne = given.has("account");
    if (isOne && !all.includes(values.account))
      await abortable(refuseUnknownAccount(accountStore(store, values.account)), signal);
    const file = await writeOutFile(
      resolve(cwd, values.out ?? DEFAULT_FILE),
      { warehouse: isS3(values.warehouse) ? undefined : values.warehouse, failure: "STORE_FAILED" },
      async (_, add) => {
        const report = makeReport({
          store,
          accounts: isOne ? [values.account] : all,
          warehouse: values.warehouse,
          nowMs: clock.now(),
          limitOf: (account) => given.ofAccount(account).read(["account", ...LIMIT_OPTIONS]),
          styleFor: (account) => styleOf(given.ofAccount(account)),
        });
        const { page, damaged } = await abortable(report, signal);
        await add([page]);
        return damaged;
      },
    );
    if (values.json) stdout.json({ file: file.path });
    else
      stdout.lines([`The report is in ${file.path}${file.replaces ? ", in place of the one before" : ""}`]);
    for (const { account, damage } of file.written) {
      stderr.message(`${damage.code}: the account ${account}: ${sayError(damage, ANY_SHELL)}`);
    }
    return file.written.length === 0 ? EXIT.done : EXIT.failed;
  },
});
