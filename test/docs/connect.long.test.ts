// The example of docs/connect.md, acted out: what `check` says of a list elsewhere and in pages is what the page shows, and with
// both settings a run publishes all.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { laptop } from "../cli/command-line.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { sectionOf } from "./markdown.ts";

const [FAILED = "", TRIED = ""] = [
  ...sectionOf("connect.md", "## What if my service answers otherwise?").matchAll(/^```\n([\s\S]*?)^```$/gm),
].map(([, text = ""]) => text);

/** Lines are broken on the page. */
const inOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** What the page shows between what it leaves out, that is not printed. */
const missing = (shown: string, printed: string): readonly string[] =>
  inOneLine(shown)
    .split(/ … (?!25)|^… | …$/)
    .filter((part) => !inOneLine(printed).includes(part));

test("the service of docs/connect.md is set up as the page shows", async () => {
  const service = {
    events: makeEvents(60),
    list: { shape: "result-items", pageSize: 25, next: "none" },
  } as const;
  const { cwd, simulator, command } = await laptop(service);
  const settings = async (found: object): Promise<void> => {
    const uk = { baseUrl: simulator.url, credentials: "credentials.json", ...found };
    const file = { requestsPerMinute: "unlimited", bytesPerMinute: "unlimited", accounts: { uk } };
    await writeFile(join(cwd, "brand-events.json"), JSON.stringify(file));
  };

  await settings({});
  const first = await command("check");
  await settings({ listPointer: "/result/items" });
  const second = await command("check");
  await settings({ listPointer: "/result/items", nextPage: "page={page}" });
  const run = await command("run", "--fresh");

  expect(missing(FAILED, first.stdout)).toEqual([]);
  expect(missing(TRIED, `${second.stdout} ${second.stderr}`)).toEqual([]);
  expect(run.stdout).toContain("60 events with details");
  expect(FAILED.length * TRIED.length).toBeGreaterThan(0);
});
