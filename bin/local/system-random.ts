// The machine's own randomness.

import { randomUUID } from "node:crypto";
import type { Random } from "../../lambdas/host/random.ts";

export const systemRandom: Random = { next: () => Math.random(), token: () => randomUUID() };
