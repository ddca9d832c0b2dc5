// What each setting of an account is where nothing is given. Not beside the schema, because finding it out takes time.

import { accountSettings } from "./account-settings.ts";

/** The address has no default. */
export const ACCOUNT_DEFAULTS = accountSettings.omit({ baseUrl: true }).parse({});
