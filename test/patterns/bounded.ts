// Runs something that may never end by itself, such as the match of an expression, which hears no timer.

import { runInNewContext } from "node:vm";

/** Throws once `work` has taken longer than that, wherever it is. */
export function within(ms: number, work: () => void): void {
  runInNewContext("work()", { work }, { timeout: ms });
}
