// The function's response to `status`.

import type { HeldCommands } from "../../job/run/compare/held-detail.ts";
import type { Status } from "../../job/run/status.ts";
import { heldDecision } from "./held-decision.ts";

export function statusResponse(found: Status, commandsOf: (snapshotId: string) => HeldCommands): object {
  const { account, held } = found;
  const decidable = held.map((one) => ({ ...one, ...heldDecision({ account, ...one }, commandsOf) }));
  return { ...found, held: decidable };
}
