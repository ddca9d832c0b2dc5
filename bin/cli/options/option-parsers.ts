// From the text of an option to its value.

import * as z from "zod";
import type { ServiceCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import { shownText } from "../../../lambdas/job/errors/shown-text.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { requiredPointers } from "../../../lambdas/job/settings/required-pointers.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { type LiftedColumn, parseLiftedColumns } from "../../../lambdas/job/snapshot/rows/lifted-column.ts";
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";

export const switchValue = (value: string): boolean => {
  if (["true", "1", "yes"].includes(value)) return true;
  if (["false", "0", "no"].includes(value)) return false;
  throw expected("true or false");
};
export const logLevel = (value: string): LogLevel => {
  const level = LOG_LEVELS.find((each) => each === value);
  if (level !== undefined) return level;
  throw expected(
    `${LOG_LEVELS.slice(0, -1).join(", ")} or ${LOG_LEVELS.at(-1)}, and got ${shownText(value)}`,
  );
};
/** The text itself is the value. */
export const textOf =
  <Value>(schema: z.ZodType<Value>) =>
  (value: string): Value =>
    parseSetting(schema, value);
/** The text is a number in decimal digits, or a word that the schema knows. */
export const numberOf =
  <Value>(schema: z.ZodType<Value>) =>
  (value: string): Value =>
    parseSetting(schema, /^\d+(\.\d+)?$/.test(value) ? Number(value) : value);
export const loginMethod = (value: string): ServiceCredentials["method"] => {
  if (value === "session" || value === "basic" || value === "oauth") return value;
  throw expected("session, basic or oauth");
};
/** No message repeats it: it may be a password in the wrong place. */
export const filledText = (value: string): string => {
  if (value.trim() !== "") return value;
  throw expected("a text that is not empty");
};
/** The text is a list, separated by commas. */
export const listOf =
  <Value>(schema: z.ZodType<Value>) =>
  (value: string): Value => {
    const parsed = schema.safeParse(value.split(",").map((each) => each.trim()));
    if (parsed.success) return parsed.data;
    throw new SyncError(
      "CONFIG_INVALID",
      `${parsed.error.issues[0]?.message}, separated by commas, and got ${shownText(value)}`,
    );
  };
export const liftedTexts = (value: string): readonly LiftedColumn[] => {
  const texts = stringArray(value);
  if (texts) return parseLiftedColumns(texts);
  throw expected(`a JSON array of texts, such as ["brand=/brand/name"], and got ${shownText(value)}`);
};
export const pointerTexts = (value: string): readonly string[] => {
  const texts = stringArray(value);
  if (texts) return parseSetting(requiredPointers, texts);
  throw expected(`a JSON array of JSON Pointers, such as ["/date"], and got ${shownText(value)}`);
};

function expected(what: string): SyncError {
  return new SyncError("CONFIG_INVALID", `expected ${what}`);
}

function stringArray(json: string): readonly string[] | undefined {
  try {
    return z.array(z.string()).safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}
