// More seeds of the simulation than `npm test` has time for.

import { test } from "vitest";
import { expectPromisesKept, PATIENCE_MS } from "./expect-promises-kept.ts";

test(
  "the simulation keeps every promise in 400 further histories",
  () => expectPromisesKept(101, 500),
  PATIENCE_MS,
);
