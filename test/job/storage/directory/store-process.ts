// A process of its own that works on a warehouse, for the tests of what holds between processes.
// Usage: node store-process.ts <create|come-and-go|increment|stall|hold|large> <directory>

import { join } from "node:path";
import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { DirectoryStore } from "../../../../lambdas/job/storage/directory/directory-store.ts";
import { withFileLock } from "../../../../lambdas/job/storage/directory/durable-file.ts";

const ROUNDS = 200;
/** Below the warehouse's own. */
const folders = "changes/uk/0000000001";
const [task, directory = ""] = process.argv.slice(2);
const store = new DirectoryStore({ directory, random: systemRandom });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Says that it is in the middle of its task, and never ends. */
async function stall(): Promise<void> {
  process.stdout.write("in the middle\n");
  setInterval(() => undefined, 1000);
  await new Promise(() => undefined);
}

async function* halfABody(): AsyncIterable<Uint8Array> {
  yield bytes("half of it");
  await stall();
}

switch (task) {
  case "create": {
    const won: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const key = `race/${round}`;
      if (await store.create(key, bytes(`${process.pid}`))) won.push(key);
    }
    process.stdout.write(JSON.stringify(won));
    break;
  }
  case "come-and-go": {
    // Each is alone in its folders, so they go with it, while another process makes them.
    const missing: string[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const key = `${folders}/${process.pid}-${round}`;
      if ((await store.create(key, bytes("here"))) === undefined) missing.push(key);
      if ((await store.read(key)) === undefined) missing.push(key);
      await store.delete([key]);
    }
    process.stdout.write(JSON.stringify(missing));
    break;
  }
  case "increment": {
    let lost = 0;
    for (let done = 0; done < ROUNDS; ) {
      const stored = await store.read("counter");
      const next = Number(new TextDecoder().decode(stored?.bytes)) + 1;
      if (await store.replace("counter", bytes(`${next}`), stored?.version ?? "")) done++;
      else lost++;
    }
    process.stdout.write(JSON.stringify({ lost }));
    break;
  }
  case "stall":
    await store.create("stalled", halfABody());
    break;
  case "hold":
    await withFileLock({ path: join(directory, ".lock"), mode: 0o600, timeoutMs: 1000 }, stall);
    break;
  case "large": {
    const failure = await store.create("large", new Uint8Array(1_000_000)).catch((error: unknown) => error);
    process.stdout.write(failure instanceof Error ? failure.message : "created");
    break;
  }
  default:
    process.exitCode = 2;
}
