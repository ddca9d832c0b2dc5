// Randomness as a run sees it: jitter and tokens. It is injected, so a test is repeatable.

import { randomUUID } from "node:crypto";

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A globally unique token (128 bits or more). */
  token(): string;
}

/** The randomness of this machine. */
export const systemRandom: Random = { next: () => Math.random(), token: () => randomUUID() };
