// The lease: a courtesy. It expires while its holder is paused, so the rest of the protocol must not need it.

import type { Defect } from "./defects.ts";
import { look, type Memory, type Program, perform } from "./step.ts";

/** False where another process holds it. A lease that is held may be found living or expired. */
export function* takeLease(
  token: string,
  memory: Memory,
  has: (defect: Defect) => boolean,
): Program<boolean> {
  const isBlind = has("lease taken without condition");
  for (;;) {
    const found = memory.keep("found lease", yield* look("reads the lease", ({ lease }) => lease));
    if (found !== null && found !== "") {
      const state = yield* perform({
        name: `finds the lease of ${found} living`,
        apply: (world) => ({ world, result: "living" }),
        choices: [`expired ${found}`],
      });
      if (state === "living") return false;
    }
    const taken = yield* perform({
      name: "takes the lease",
      apply: (world) =>
        world.lease === found || isBlind
          ? { world: { ...world, lease: token }, result: true }
          : { world, result: false },
      gains: token,
    });
    memory.forget("found lease");
    if (taken) return true;
  }
}

/** Before something is recorded. False where another process has the lease by now. */
export const confirmLease = (token: string): Program<boolean> =>
  perform({
    name: "confirms the lease",
    apply: (world) => ({ world, result: world.lease === token }),
    confirmsLease: true,
  });

export function* freeLease(token: string, has: (defect: Defect) => boolean): Program<void> {
  const isBlind = has("lease freed without condition");
  yield* perform({
    name: "frees the lease",
    apply: (world) =>
      world.lease === token || isBlind
        ? { world: { ...world, lease: "" }, result: true }
        : { world, result: false },
    frees: true,
  });
}
