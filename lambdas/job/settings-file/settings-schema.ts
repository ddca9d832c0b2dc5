// What each reader takes of the table of settings. `cdk.json` under `context.eventSync` and a settings file take the
// same keys and values, so one file serves a laptop and a deployment; each ignores what only the other has.

import * as z from "zod";
import { accountName } from "../settings/values.ts";
import { ACCOUNT_SETTINGS, type Setting } from "./settings.ts";
import { SHARED_SETTINGS } from "./shared-settings.ts";

type Table = Readonly<Record<string, Setting>>;

/** What is absent stays absent, because a default of its own would hide a key at the top. */
function withoutDefaults<Settings extends Table>(
  table: Settings,
): { readonly [Key in keyof Settings]: z.ZodOptional<Settings[Key]["schema"]> } {
  return Object.fromEntries(
    Object.entries(table).map(([key, { schema }]) => [key, schema.optional()]),
  ) as never;
}

type WithDefault<Row extends Setting> = Row extends { readonly default: unknown }
  ? z.ZodDefault<Row["schema"]>
  : z.ZodOptional<Row["schema"]>;

type UsedBy<Settings extends Table, Where> = {
  readonly [Key in keyof Settings as Settings[Key]["where"] extends Where ? Key : never]: WithDefault<
    Settings[Key]
  >;
};

/** The settings that are used there, complete. */
export function settingsFor<Settings extends Table, Where extends Setting["where"]>(
  table: Settings,
  ...where: readonly Where[]
): UsedBy<Settings, Where> {
  const used = Object.entries(table).filter(([, row]) => where.some((each) => each === row.where));
  return Object.fromEntries(
    used.map(([key, { schema, default: fallback }]) => [
      key,
      fallback === undefined ? schema.optional() : schema.default(fallback),
    ]),
  ) as never;
}

/** What a run uses of an account's settings, on a laptop and in the function. */
export const accountSettings = z.strictObject({
  ...settingsFor(ACCOUNT_SETTINGS, "both"),
  baseUrl: ACCOUNT_SETTINGS.baseUrl.schema,
});

export type AccountSettings = Readonly<z.output<typeof accountSettings>>;

const { schedule, ...common } = ACCOUNT_SETTINGS;
const ofAnAccount = withoutDefaults(common);

const ACCOUNTS = 'expected the accounts by name, such as {"uk": {"schedule": "cron(0 6 * * ? *)"}}';

function schemaWith<Schedule extends z.ZodType>(ofSchedule: Schedule) {
  return z.strictObject({
    /** The schema that editors check the file with. */
    $schema: z.string("expected the path or the address of brand-events.schema.json").optional(),
    accounts: z
      .record(accountName, z.strictObject({ schedule: ofSchedule, ...ofAnAccount }), ACCOUNTS)
      .refine((accounts) => Object.keys(accounts).length > 0, `${ACCOUNTS}, and got none`)
      .describe("The accounts by name: 1 to 40 characters of `a-z`, `0-9`, `_`, `-`"),
    ...ofAnAccount,
    ...withoutDefaults(SHARED_SETTINGS),
  });
}

/** The file of a laptop, which starts no runs by itself. */
export const fileSettingsSchema = schemaWith(schedule.schema.optional());

/** The file of a deployment. */
export const deploymentSettingsSchema = schemaWith(schedule.schema);

export type FileSettings = Readonly<z.output<typeof fileSettingsSchema>>;
