// Apart from the tests that live histories: while sources are mutated, they do not read as they are.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLANTED_DEFECTS } from "./plant.ts";

const JOB = join(import.meta.dirname, "../../../lambdas/job");

test.each(PLANTED_DEFECTS.map(({ name, file, from }) => ({ name, file, from })))(
  "can be planted: $name",
  ({ file, from }) => {
    expect(readFileSync(join(JOB, file), "utf8").split(from)).toHaveLength(2);
  },
);
