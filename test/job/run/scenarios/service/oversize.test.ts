import { describe, expect, it } from "vitest";
import { readManifest } from "../../../../../lambdas/job/snapshot/files/manifest.ts";
import { layout } from "../../../../../lambdas/job/storage/layout.ts";
import { accountStore } from "../../../../../lambdas/job/storage/store.ts";
import { ACCOUNT, SmallWorld } from "../../small-world.ts";

const MIB = 1024 * 1024;
const NOTE = `["${'\\"'.repeat(1.95 * MIB)}"]`; // 3.9 MiB of a detail, 7.8 MiB of each column that has it

/** One event of the service with a text of its own beside the others. */
async function runWith(changes: { readonly listing?: string; readonly note?: string }, columns: number) {
  const world = new SmallWorld({
    lifted: Array.from({ length: columns }, (_, n) => ({ name: `c${n}`, pointer: "/note" })),
  });
  world.show(10);
  const ports = world.ports();
  const openService: typeof ports.openService = async (rateLimiter) => {
    const service = await ports.openService(rateLimiter);
    const list = await service.list();
    const [first] = list.events;
    const events = [...list.events].map((event) =>
      event.uuid === first?.uuid && changes.listing !== undefined
        ? { ...event, listing: changes.listing }
        : event,
    );
    return {
      ...service,
      list: async () => ({ ...list, events }),
      detail: async (requestAs) => {
        const detail = await service.detail(requestAs);
        if (detail.kind !== "event" || requestAs !== first?.requestAs || changes.note === undefined)
          return detail;
        return { ...detail, event: detail.event.replace("}", `,"note":${changes.note}}`) };
      },
    };
  };
  const { row, error } = await world.run({}, { openService });
  return { world, row, error };
}

describe("an event whose row would be longer than readers take", () => {
  it("is left out as oversize when lifted columns repeat it too often", async () => {
    const { world, row } = await runWith({ note: NOTE }, 8);

    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 10, events: 9, rejected: 1 });
    expect((await world.seen()).size).toBe(9);
    const { counts } = await readManifest(accountStore(world.store, ACCOUNT), row.snapshot_id ?? "");
    expect(counts).toMatchObject({ rejected: 1, oversize: 1 });
    const leftOut = await world.store.read(layout(ACCOUNT).leftOut(row.snapshot_id ?? ""));
    expect(Buffer.from(leftOut?.bytes ?? []).toString()).toMatch(
      /^\{"uuid":"[^"]+","reason":"oversize"\}\n$/,
    );
  });

  it("is left out without a request when the list's entry alone is too long", async () => {
    const listing = `["${'\\"'.repeat(17 * MIB)}"]`;

    const { world, row } = await runWith({ listing }, 0);

    expect(row).toMatchObject({ outcome: "PUBLISHED", listed: 10, events: 9, rejected: 1 });
    expect(world.details).toBe(9);
  });

  it("does not end the run when no string could hold its list entry as JSON", async () => {
    const listing = `["${'\\"'.repeat(120 * MIB)}"]`;

    const { row, error } = await runWith({ listing }, 0);

    expect(error).toBeUndefined();
    expect(row).toMatchObject({ outcome: "PUBLISHED", events: 9, rejected: 1 });
  });
});
