// The emulator starts on loopback, and ends when it is stopped or its parent ends.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { onEmulator } from "./emulator.ts";
import { EmulatorProcess } from "./emulator-process.ts";

const isThere = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

onEmulator("the emulator's process", () => {
  test("responds on loopback until it is stopped", async () => {
    const emulator = await EmulatorProcess.start();
    const before = await isThere(emulator.url);

    await emulator.stop();

    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect([before, await isThere(emulator.url)]).toEqual([true, false]);
  });

  test("ends with a parent that is killed", async () => {
    const file = new URL("emulator-process.ts", import.meta.url);
    const program = `
      import { EmulatorProcess } from ${JSON.stringify(file)};
      console.log((await EmulatorProcess.start()).url);
      setInterval(() => {}, 1000);`;
    const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [said] = await once(parent.stdout, "data");
    const url = String(said).trim();

    parent.kill("SIGKILL");
    await once(parent, "close");

    await expect.poll(() => isThere(url), { timeout: 10_000 }).toBe(false);
  });
});
