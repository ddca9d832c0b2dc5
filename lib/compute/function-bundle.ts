// How the function's code becomes one file: by the CDK from a clone, by `npm run build` for the package.

/** Not minified, so that a stack trace in the log reads like the source. One start a day needs no smaller file. */
export const FUNCTION_BUNDLE = {
  /** From the root of the project. */
  entry: "lambdas/sync/handler.ts",
  target: "node24",
  mainFields: ["module", "main"],
  banner:
    'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
} as const;

/** As the CDK names it. */
export const FUNCTION_FILE = "index.mjs";
export const FUNCTION_HANDLER = "index.handler";
