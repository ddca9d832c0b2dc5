// The documents name every reason for which a snapshot is held.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { HOLD_REASONS } from "../../lambdas/job/run/publish/guard.ts";

const DOCS = join(import.meta.dirname, "..", "..", "docs");

test.each(["operations.md", "runbook.md"])(
  "%s has a row for each reason, in the order of the guard",
  (page) => {
    const text = readFileSync(join(DOCS, page), "utf8");

    const [, table = ""] = /\n\| Reason \|.*\n\|[-|]+\n((?:\|.*\n)+)/.exec(text) ?? [];
    const named = table.split("\n").flatMap((row) => (row.split("|")[1] ?? "").match(/[A-Z_]+/g) ?? []);

    expect(named).toEqual(HOLD_REASONS);
  },
);
