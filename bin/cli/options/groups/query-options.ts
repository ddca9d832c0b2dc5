// The options of `query`, of which `diff` has two: where its SQL comes from, the form and the place of its result, and
// whether damage ends it.

import { filePlace } from "../../../../lambdas/job/settings-file/places.ts";
import { switchValue, textOf } from "../option-parsers.ts";
import { RESULT_FORMATS, resultFormat } from "../result-format.ts";

export const QUERY_OPTIONS = {
  file: {
    flag: "-f, --file <file>",
    description: "read the SQL from this file",
    parse: textOf(filePlace),
  },
  format: {
    flag: "--format <format>",
    description: `form of the result: ${RESULT_FORMATS.join(", ")} (query only); without it the ending of query's --out decides, else table`,
    parse: resultFormat,
  },
  out: {
    flag: "--out <file>",
    description: "write the result to this file, in place of one that is there",
    parse: textOf(filePlace),
  },
  full: {
    flag: "--full",
    description: "cut no table to the width of the terminal",
    fallback: "false",
    parse: switchValue,
  },
  partial: {
    flag: "--partial",
    description: "leave out snapshots and changes that are damaged, and name them",
    fallback: "false",
    parse: switchValue,
  },
} as const;
