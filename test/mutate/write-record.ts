// What processes tell each other while mutations are tried.

import { renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** In one step: a folder of records is read while they are written, so it never holds half of one. */
export function writeRecord(path: string, record: object): void {
  const beside = join(dirname(path), "..", `${process.pid}-${basename(path)}`);
  writeFileSync(beside, JSON.stringify(record));
  renameSync(beside, path);
}
