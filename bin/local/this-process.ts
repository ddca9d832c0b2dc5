// Tells a living process of this host from a dead one, so that a dead one's lease need not be waited for.

import { hostname } from "node:os";
import type { Holder } from "../../lambdas/run/lease-file.ts";

export const thisProcess: Omit<Holder, "token"> = { host: hostname(), pid: process.pid };

/** True only if the process was on this host and no longer exists there. */
export function isGone({ host, pid }: Holder): boolean {
  if (host !== thisProcess.host || pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}
