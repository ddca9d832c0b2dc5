// A disk that fills while a run writes: the error names the remedy, nothing published is lost, the next run finishes.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, lastJson, SYNC, sync, writeCredentials } from "./command-line.ts";
import { readEvents } from "./warehouse-reader.ts";

/** The command line in a shell that lets no file grow beyond `kib`, as a quota would. */
async function syncWithin(
  kib: number,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number; stderr: string }> {
  const shell = ["-c", `ulimit -f ${kib}; exec "$@"`, "shell", process.execPath, SYNC, ...args];
  const child = spawn("bash", shell, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { code, stderr };
}

test("a disk that fills in mid-write fails the run as STORE_FAILED, and the next run finishes", async () => {
  const cwd = await temporaryDirectory();
  const noise = (n: number): string =>
    `"noise":"${Buffer.from(`${n}`.repeat(3)).toString("hex").repeat(40)}"`;
  const events = makeEvents(300).map((_, n) => makeEvent(n + 1, { extra: noise(n) }));
  await using simulator = await Simulator.start({ events: events.slice(0, 5) });
  await writeCredentials(cwd, simulator);
  await sync(["run", ...against(simulator)], { cwd });
  const before = await readEvents(join(cwd, "warehouse"));
  simulator.setEvents(events);

  const full = await syncWithin(16, ["run", ...against(simulator)], cwd);
  const seen = await readEvents(join(cwd, "warehouse"));
  const next = await sync(["run", "--json", ...against(simulator)], { cwd });

  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/STORE_FAILED: Could not write .* Raise it and start again/);
  expect(seen).toEqual(before);
  expect(lastJson(next)).toMatchObject({ outcome: "PUBLISHED", events: 300, added: 295 });
});
