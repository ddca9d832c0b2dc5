// What may stand in cdk.json under `context.eventSync`, and in a settings file: the same keys and values. So one file
// serves a laptop and a deployment; each ignores what only the other has.

import * as z from "zod";
import { accountName } from "../settings/account-name.ts";
import { accountKeys, schedule } from "./account-keys.ts";
import { sharedKeys } from "./shared-keys.ts";

type WithoutDefault<Schema> =
  Schema extends z.ZodDefault<infer Inner>
    ? z.ZodOptional<Inner>
    : Schema extends z.ZodOptional
      ? Schema
      : never;

/** What is absent stays absent, because a default of its own would hide a key at the top. */
function withoutDefaults<Shape extends z.ZodRawShape>(
  shape: Shape,
): { [Key in keyof Shape]: WithoutDefault<Shape[Key]> } {
  const entries = Object.entries(shape).map(([key, schema]) => [
    key,
    schema instanceof z.ZodDefault ? z.optional(schema.unwrap()) : schema,
  ]);
  return Object.fromEntries(entries);
}

const ACCOUNTS = 'expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}';

const ofAnAccount = withoutDefaults(accountKeys.shape);

function schemaWith<Schedule extends z.ZodType>(ofSchedule: Schedule) {
  return z.strictObject({
    /** For editors. */
    $schema: z.string("expected the path or the address of brand-events.schema.json").optional(),
    accounts: z
      .record(accountName, z.strictObject({ schedule: ofSchedule, ...ofAnAccount }), ACCOUNTS)
      .refine((accounts) => Object.keys(accounts).length > 0, `${ACCOUNTS}, and got none`),
    ...ofAnAccount,
    ...withoutDefaults(sharedKeys.shape),
  });
}

/** For a laptop, which starts no runs by itself. */
export const fileSettingsSchema = schemaWith(schedule.optional());

/** For a deployment. */
export const deploymentSettingsSchema = schemaWith(schedule);

export type FileSettings = Readonly<z.output<typeof fileSettingsSchema>>;

export type SettingsOfAccount = Readonly<z.output<typeof settingsOfAccount>>;

const settingsOfAccount = z.object(ofAnAccount);

/** The account's own keys, then those at the top. What is at neither place is absent. */
export function accountInSettings(settings: FileSettings, name: string): SettingsOfAccount {
  return settingsOfAccount.parse({ ...settings, ...settings.accounts[name] });
}
