// `npm run bench:age`: counts what calls on a warehouse of this age send, in S3 and in a directory.
//
//   npm run bench:age -- --publications 9000 --accounts 1 --minutes 60 --retain-days 30 --checks

import { parseArgs } from "node:util";
import { requestsAt } from "../job/run/age.ts";

const { values } = parseArgs({
  options: {
    publications: { type: "string", default: "9000" },
    accounts: { type: "string", default: "1" },
    minutes: { type: "string", default: "60" },
    "retain-days": { type: "string" },
    checks: { type: "boolean", default: false },
  },
});

for (const place of ["S3 and Glue", "a directory"] as const) {
  const age = {
    publications: Number(values.publications),
    accounts: Number(values.accounts),
    stepMs: Number(values.minutes) * 60_000,
    retainDays: values["retain-days"] === undefined ? undefined : Number(values["retain-days"]),
    place,
    checks: values.checks,
  };
  process.stdout.write(`${JSON.stringify(age)}\n`);
  await requestsAt(age, (line) => process.stdout.write(`  ${line}\n`));
}
