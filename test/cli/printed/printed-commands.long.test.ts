// Whatever command the program prints can be pasted into a shell as it is, in any folder.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { printedCommands } from "../command-line.ts";
import { printedWorld } from "./printed-world.ts";
import { SCENARIOS } from "./scenarios.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** How many commands of a file other tests run, or it only names the program. */
const ELSEWHERE: Readonly<Record<string, number>> = {
  // The next steps, which `examples.long.test.ts` runs, and the commands that it runs itself.
  "bin/demo.ts": 6,
  // Its own name, and the examples, which `examples.long.test.ts` runs.
  "bin/cli/main.ts": 2,
  // The two that follow run on the emulator: `test/e2e/authorized.aws.test.ts`.
  "lambdas/sync/handle-request.ts": 1,
  "lib/outputs.ts": 1,
  // `init`, which asks, and `check`.
  "bin/cli/wiring/service-ports.ts": 1,
  // What all others are made with.
  "bin/cli/options/read-options.ts": 3,
};

describe("a printed command", () => {
  test.each(SCENARIOS)("of $place works as it is", async ({ place, asks, said }) => {
    await using world = await printedWorld(asks);

    const commands = printedCommands(await said(world));

    expect(commands.map(([word]) => word)).toContain(place.split(/[ ,]+/)[1]);
    for (const command of commands) {
      const stdin = Readable.from(["SELECT count(*) FROM events WHERE account = 'uk'"]);
      const ended = await world.command(command, { stdin, cwd: await temporaryDirectory() });
      expect(ended.exitCode, `${command.join(" ")}\n${ended.stderr}`).toBe(0);
    }
  });

  test("has a scenario, wherever it is made", () => {
    const made = new Map<string, number>();
    for (const file of globSync("{bin,lambdas,lib}/**/*.ts", { cwd: ROOT })) {
      const text = readFileSync(join(ROOT, file), "utf8");
      const code = text.replaceAll(/^import [^;]+;$|^\s*(?:\/\/|\*|\/\*).*$/gm, "");
      const count = code.match(/commandLineText[(<]|\bPROGRAM_NAME\b(?!:)|npm run sync/g)?.length ?? 0;
      if (count > 0) made.set(file.replaceAll("\\", "/"), count);
    }
    const tested = new Map(Object.entries(ELSEWHERE));
    for (const { place, isSamePlace } of SCENARIOS) {
      if (isSamePlace) continue;
      const file = place.split(" ")[0] ?? "";
      tested.set(file, (tested.get(file) ?? 0) + 1);
    }

    expect([...made].toSorted()).toEqual([...tested].toSorted());
  });
});
