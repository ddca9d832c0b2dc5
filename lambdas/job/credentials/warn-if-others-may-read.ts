// A file with secrets that other users of this machine may read: the warning about it.

import { stat } from "node:fs/promises";
import { shellWord } from "../errors/shell-word.ts";
import type { Logger } from "../runtime/logger.ts";

/** Returns whether it warned. Says nothing of a file that is missing: reading it tells why. */
export async function warnIfOthersMayRead(file: string, logger: Pick<Logger, "warn">): Promise<boolean> {
  if (process.platform === "win32") return false;
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || (found.mode & 0o077) === 0) return false;
  logger.warn(`other users of this machine may read ${file}: chmod 600 ${shellWord(file)}`);
  return true;
}
