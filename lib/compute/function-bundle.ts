// How the function's code becomes one file: by the CDK from a clone, by `npm run build` for the package.

/**
 * Only the syntax is minified: names and lines stay, so that a stack trace in the log reads like the source, and a start
 * has less to compile.
 */
export const FUNCTION_BUNDLE = {
  /** From the root of the project. */
  entry: "lambdas/sync/handler.ts",
  target: "node24",
  mainFields: ["module", "main"],
  banner:
    'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
  /** `node:http` is taken from there, a path from the root. */
  http: "lambdas/job/network/node-http.cjs",
} as const;

/** As the CDK names it. */
export const FUNCTION_FILE = "index.mjs";
export const FUNCTION_HANDLER = "index.handler";
