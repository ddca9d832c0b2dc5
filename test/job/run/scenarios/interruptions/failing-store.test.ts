// A store that fails: in the middle of a range it ends the run at once, which waits for no result that it cannot store; at
// the end of a failed run it hides nothing.

import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { RunPorts } from "../../../../../lambdas/job/run/run-ports.ts";
import type { Store } from "../../../../../lambdas/job/storage/store.ts";
import { interposed } from "../../interposed-store.ts";
import { SmallWorld } from "../../small-world.ts";

/** Of fourteen events: enough that the compressor has something to write before the range is whole. */
const NOISE = randomBytes(75_000).toString("hex");

test("a store that fails while a request is in flight", async () => {
  const world = new SmallWorld({ rangeEvents: 100 });
  world.show(20);
  const full = new SyncError("STORE_FAILED", "the disk is full");
  const inner = interposed(world.store);
  const store: Store = {
    ...inner,
    create: async (key, body) => {
      if (!key.includes("/rows-") || body instanceof Uint8Array) return inner.create(key, body);
      for await (const _ of body) throw full;
      return undefined;
    },
  };
  let aborted = 0;
  const openService: RunPorts["openService"] = async (rateLimiter) => {
    const service = await world.ports().openService(rateLimiter);
    return {
      ...service,
      detail: async (requestAs, signal) => {
        if (world.details < 14) {
          const detail = await service.detail(requestAs, signal);
          return detail.kind === "event" ? { ...detail, event: `{"noise":"${NOISE}"}` } : detail;
        }
        return new Promise((_, reject) => {
          signal?.addEventListener("abort", () => {
            aborted += 1;
            reject(signal.reason);
          });
        });
      },
    };
  };

  const { error } = await world.run({}, { store, openService });

  expect(error).toBe(full);
  expect(aborted).toBeGreaterThan(0);
});

test("a store that fails when the outcome of a failed run is written hides nothing of the failure", async () => {
  const world = new SmallWorld();
  const store = interposed(world.store, async (key) => {
    if (key.endsWith("/outcome.json")) throw new SyncError("STORE_FAILED", "the disk is full");
  });
  const openService: RunPorts["openService"] = () => {
    throw new SyncError("UNEXPECTED_RESPONSE", "The list is no JSON.");
  };

  const { row, error } = await world.run({}, { store, openService });

  expect(row).toMatchObject({ outcome: "FAILED", error_code: "UNEXPECTED_RESPONSE" });
  expect(error).toMatchObject({ code: "UNEXPECTED_RESPONSE" });
  expect(world.log.text).toContain("the result of this attempt could not be written to the warehouse");
});
