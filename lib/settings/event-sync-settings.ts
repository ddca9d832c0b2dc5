// The settings as a person writes them: those of `cdk.json`, and of `new EventSync`.

import type { z } from "zod";
import type { deploymentSettingsSchema } from "../../lambdas/job/settings-file/settings-schema.ts";

/** The package declares this type key by key: its users have no zod. */
export type EventSyncSettings = Immutable<z.input<typeof deploymentSettingsSchema>>;

type Immutable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Immutable<Value[Key]> }
  : Value;
