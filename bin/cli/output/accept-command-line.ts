// The command that publishes a held snapshot, to be pasted into a shell as it is.

import type { WAREHOUSE_OPTIONS } from "../options/given-settings.ts";
import type { OptionValues } from "../options/options.ts";
import { isS3 } from "../options/s3-location.ts";

type Values = OptionValues<(typeof WAREHOUSE_OPTIONS)[number] | "account">;

export function acceptCommandLine(snapshotId: string, { account, warehouse, database }: Values): string {
  const catalog = isS3(warehouse) ? ["--database", quoted(database)] : [];
  return [
    "npm run sync -- accept",
    snapshotId,
    "--account",
    account,
    "--warehouse",
    quoted(warehouse),
    ...catalog,
  ].join(" ");
}

/** For a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
