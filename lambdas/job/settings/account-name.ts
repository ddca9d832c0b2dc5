// What an account may be called. The name is a segment of keys and a value of partition columns.

import * as z from "zod";

const EXPECTED = "expected a name of 1 to 40 of a-z, 0-9, _ and -, beginning with a letter or digit";

export const accountName = z.string(EXPECTED).regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, EXPECTED);

export function isAccountName(text: string): boolean {
  return accountName.safeParse(text).success;
}
