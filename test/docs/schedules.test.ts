// The schedules of docs/operate.md: cron and systemd start the same command at the same times, and systemd takes the units.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const PAGE = readFileSync(join(import.meta.dirname, "../../docs/operate.md"), "utf8");

const blocks = [...PAGE.matchAll(/^```ini\n(.*?)^```$/gms)].map(([, text = ""]) => text);
const withSection = (section: string): string => blocks.find((text) => text.includes(`[${section}]\n`)) ?? "";
const [SERVICE, TIMER] = [withSection("Service"), withSection("Timer")];

/** The value of a key of a unit. */
const keyOf = (unit: string, key: string): string | undefined =>
  new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1];

test("systemd starts what cron starts, in the same folder with the same PATH, and makes up for a missed start", () => {
  const [, path] = /^(PATH=.*)\n0 6 \* \* 1-5 {2}cd (\S+) && (.*) >> sync\.log 2>&1$/m.exec(PAGE) ?? [];
  const [, folder, command] = /^0 6 \* \* 1-5 {2}cd (\S+) && (.*) >> sync\.log 2>&1$/m.exec(PAGE) ?? [];

  expect(path).toContain("/usr/bin");
  expect(keyOf(SERVICE, "Environment")).toBe(path);
  expect(keyOf(SERVICE, "WorkingDirectory")).toBe(folder);
  expect(keyOf(SERVICE, "ExecStart")).toBe(`/usr/bin/env ${command}`);
  expect(keyOf(TIMER, "OnCalendar")).toBe("Mon..Fri 06:00");
  expect(keyOf(TIMER, "Persistent")).toBe("true");
});

const ANALYZE = "systemd-analyze";

test.skipIf(spawnSync(ANALYZE, ["--version"]).status !== 0)(
  "systemd takes the units without a word",
  async () => {
    const folder = await temporaryDirectory();
    const files = [join(folder, "brand-events-sync.service"), join(folder, "brand-events-sync.timer")];
    for (const [index, text] of [SERVICE, TIMER].entries()) await writeFile(files[index] ?? "", text);

    const verified = spawnSync(ANALYZE, ["verify", ...files], { encoding: "utf8" });

    expect([verified.status, verified.stderr, verified.stdout]).toEqual([0, "", ""]);
  },
);
