// The settings file in the function's bundle: the accounts and the lifted columns. The stack writes it, the function
// reads it. Unlike environment variables it has no limit of 4 KB.

import * as z from "zod";
import { SyncError } from "../job/errors/sync-error.ts";
import { accountName } from "../job/settings/account-name.ts";
import { accountSettings } from "../job/settings/account-settings.ts";
import { plainEnglish, problemsOf } from "../job/settings/setting-problem.ts";
import { liftedColumns } from "../job/snapshot/rows/lifted-column.ts";

/** Its name, beside the function's code. */
export const SETTINGS_FILE = "settings.json";

const schema = z.strictObject({
  accounts: z
    .record(accountName, accountSettings)
    .refine((accounts) => Object.keys(accounts).length > 0, "expected at least one account"),
  lifted: liftedColumns.default([]),
});

/** What `lib` gives: what has a default may be left out. */
export type SettingsFile = z.input<typeof schema>;

export function settingsFileText(settings: SettingsFile): string {
  return `${JSON.stringify(settings)}\n`;
}

/** Throws `CONFIG_INVALID` naming the key. */
export function parseSettingsFile(text: string): z.output<typeof schema> {
  const given = parseJson(text);
  const parsed = schema.safeParse(given, { error: plainEnglish });
  if (!parsed.success) throw invalid(problemsOf(parsed.error.issues, given, keyOf).join("; "));
  return parsed.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("expected JSON");
  }
}

/** `accounts.uk.baseUrl`. */
function keyOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}

function invalid(problem: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `The function's ${SETTINGS_FILE} is not usable (${problem}). Deploy the stack again; the file is not edited by hand.`,
  );
}
