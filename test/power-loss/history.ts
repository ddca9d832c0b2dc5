// A process that lives a history on a directory, and records what it does to the file system.
// Usage: POWER_LOSS_RECORD=file node history.ts <calls|runs|tokens> <empty directory>

import { randomUUID } from "node:crypto";
import { link, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { type AcceptOrRollback, removeAccount } from "../../lambdas/job/commands/decisions.ts";
import { FileTokenStore } from "../../lambdas/job/credentials/tokens/file-token-store.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import { sampleTokens } from "../job/credentials/tokens/memory-token-store.ts";
import { DAY_MS, type PortChanges, type SmallWorld } from "../job/run/small-world.ts";
import { reached } from "./record.ts";
import { type Done, newWorld } from "./recorded.ts";

const [history = "", directory = ""] = process.argv.slice(2);
const random = { token: () => randomUUID() };

/** Each call of the store, in folders that are new and in others. */
async function calls(): Promise<void> {
  const store = new DirectoryStore({ directory: join(directory, "warehouse"), random });
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  await store.create("a/b/one", bytes("one"));
  reached("a/b/one has one");
  // Another process has just given the file its name, and has not synced the folder.
  await link(join(directory, "warehouse/a/b/one"), join(directory, "warehouse/a/b/two"));
  await store.create("a/b/two", bytes("two"));
  reached("a/b/two has one");
  // Another process has made the folders, and was killed before it synced their names.
  for (const folder of ["c", "c/d"]) await mkdir(join(directory, "warehouse", folder));
  await store.create("c/d/three", bytes("three"));
  reached("c/d/three has three");
  const version = (await store.read("a/b/one"))?.version ?? "";
  await store.replace("a/b/one", bytes("new"), version);
  reached("a/b/one has new");
  await store.delete(["a/b/two"]);
  reached("a/b/two");
  // A folder goes with its last file, and is made again.
  await store.delete(["a/b/one", "c/d/three"]);
  reached("a/b/one");
  reached("c/d/three");
  await store.create("c/d/three", bytes("again"));
  reached("c/d/three has again");
  await store.delete(["c/d/three"]);
  reached("c/d/three");
  // Another process has made the folders again, and was killed before it synced their names.
  for (const folder of ["c", "c/d"]) await mkdir(join(directory, "warehouse", folder));
  await store.create("c/d/four", bytes("four"));
  reached("c/d/four has four");
}

/** A person authorizes, and two renewals replace the tokens. */
async function tokens(): Promise<void> {
  const store = new FileTokenStore({ file: join(directory, "tokens.json") });
  let version: string | undefined;
  for (const name of ["first", "second", "third"]) {
    const claim = version === undefined ? undefined : await store.claim(version);
    version = await store.replace(version, sampleTokens(name));
    reached(name);
    await claim?.release();
  }
}

/** What a laptop does with an account, from its first run to its end. */
async function runs(): Promise<void> {
  const world = newWorld();
  const store = new DirectoryStore({ directory, random });
  const ports = { store, catalog: new DuckdbCatalog({ store, directory: "/warehouse" }) };
  const ended = (outcome: string): void => {
    const done: Done = { outcome, atMs: world.clock.now(), events: [...world.events] };
    reached(JSON.stringify(done));
  };
  const run = async (changes: PortChanges = {}): Promise<string> => {
    const { row } = await world.run({}, { ...ports, ...changes });
    ended(row.outcome);
    return row.run_id;
  };
  const decide = async (request: AcceptOrRollback): Promise<void> =>
    ended((await world.acceptOrRollback(request, ports)).row.outcome);

  world.show(9, 1);
  const first = await run();
  world.show(10, 2);
  await run(stoppedAt(world, 8));
  const second = await run();
  world.show(3, 3);
  const held = await run();
  await decide({ action: "accept", snapshotId: held, force: false });
  await decide({ action: "rollback", snapshotId: first, pin: true });
  await run();
  await decide({ action: "accept", snapshotId: second, force: true });
  for (const days of [3, 2, 20]) {
    world.clock.advance(days * DAY_MS);
    world.show(10, days + 10);
    await run();
  }
  ended(String(await removeAccount(world.ports(ports))));
}

/** The run is stopped when it asks for so many details. */
function stoppedAt(world: SmallWorld, details: number): PortChanges {
  const stop = new AbortController();
  const { openService } = world.ports();
  let asked = 0;
  return {
    signal: stop.signal,
    openService: async (rateLimiter) => {
      const service = await openService(rateLimiter);
      return {
        ...service,
        detail: async (...request) => {
          asked += 1;
          if (asked === details) stop.abort(new SyncError("INTERRUPTED", "a person stopped it"));
          return service.detail(...request);
        },
      };
    },
  };
}

if (history === "calls") await calls();
if (history === "tokens") await tokens();
if (history === "runs") await runs();
