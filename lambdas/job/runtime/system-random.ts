// The randomness of this machine.

import { randomUUID } from "node:crypto";
import type { Random } from "./random.ts";

export const systemRandom: Random = { next: () => Math.random(), token: () => randomUUID() };
