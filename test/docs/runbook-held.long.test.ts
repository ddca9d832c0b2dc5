// A held snapshot, acted out: what the function answers is what the runbook shows, and what a laptop's commands print is what
// docs/operate.md shows.

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Clock, systemClock } from "../../lambdas/job/runtime/clock.ts";
import { sync } from "../cli/command-line.ts";
import { Warehouse } from "../cli/warehouse.ts";
import { Sandbox } from "../job/run/sandbox.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvent, makeEvents } from "../simulator/simulated-event.ts";
import type { Simulator } from "../simulator/simulator.ts";
import { FunctionSandbox, NEXT_DAY, NEXT_RUN, RUN, SCHEDULED_AT } from "../sync/function-sandbox.ts";
import { sectionOf } from "./markdown.ts";

/** The snapshots' names: on the page, or in a test. */
interface Names {
  readonly head: string;
  readonly held: string;
}
const SHOWN: Names = { head: "2026-11-20T06-00-00.000Z", held: "2026-11-21T06-00-00.000Z" };
const HELD = { page: "runbook.md", heading: "## Held" };
const LAPTOP = { page: "operate.md", heading: "## What do I do with a held snapshot?" };

describe(`the runbook, "${HELD.heading.slice(3)}"`, () => {
  const names: Names = { head: RUN, held: NEXT_RUN };
  const mail = z.object({ line1: z.string(), line3: z.string() });
  const steps = stepsBelow(HELD);
  const step = (part: string) => {
    const found = steps.find(({ command }) => command.includes(part));
    if (found === undefined) throw new Error(`the page has no command with ${part}`);
    return found;
  };
  const shown = (part: string): object => JSON.parse(step(part).answer);

  /** Two days of the schedule: published, then held. */
  async function heldDay(): Promise<FunctionSandbox> {
    const sandbox = await FunctionSandbox.start();
    firstDay(sandbox.simulator);
    await sandbox.invoke({ scheduledAt: SCHEDULED_AT });
    worseDay(sandbox.simulator);
    await sandbox.invoke({ scheduledAt: NEXT_DAY });
    return sandbox;
  }

  /** The answer to a command of the page, with the page's names. */
  async function answerTo(part: string, sandbox: FunctionSandbox) {
    const [, quoted = ""] = /^ask "(.*)"$/.exec(step(part).command) ?? [];
    const event = quoted
      .replaceAll('\\"', '"')
      .replaceAll("$ACCOUNT", "uk")
      .replaceAll(SHOWN.held, names.held);
    return JSON.parse(asShown(JSON.stringify(await sandbox.invoke(JSON.parse(event))), names));
  }

  test("its commands are these, in this order", () => {
    expect(steps.map(({ command }) => /action\\":\\"(\w+)/.exec(command)?.[1])).toEqual(["diff", "accept"]);
  });

  test("the right snapshot: mail, diff, accept", async () => {
    await using sandbox = await heldDay();

    const event = sandbox.events.find(({ detailType }) => detailType === "Snapshot Held");
    const { line1, line3 } = mail.parse(event?.detail["mail"]);
    expect([line1, line3].map((line) => asShown(line, names))).toEqual(mailBelow(HELD));
    expect(await answerTo('diff\\"', sandbox)).toMatchObject(shown('diff\\"'));
    expect(await answerTo('accept\\"', sandbox)).toMatchObject(shown('accept\\"'));
  });

  test("the wrong snapshot: nothing is done, and the next run publishes", async () => {
    await using sandbox = await heldDay();

    firstDay(sandbox.simulator);
    const next = await sandbox.invoke({ action: "run", account: "uk" });

    expect(next).toMatchObject({ outcome: "PUBLISHED", summary: "20 events; 0 added, 0 changed, 0 removed" });
  });
});

test("the commands of a laptop print what the page shows", async () => {
  const cwd = await temporaryDirectory();
  await using sandbox = await Sandbox.start({}, {}, IMPATIENT);
  sandbox.account = "default";
  const { store, views: catalog } = new Warehouse(join(cwd, "warehouse"));
  const run = async () => (await sandbox.run({}, { store, catalog })).row.run_id;
  firstDay(sandbox.simulator);
  const head = await run();
  worseDay(sandbox.simulator);
  const held = await run();

  for (const { command, answer } of stepsBelow(LAPTOP)) {
    const [, ...args] = command.replaceAll(SHOWN.held, held).split(" ");
    const { stdout, exitCode } = await sync(args, { cwd });

    const printed = withoutInstants(asShown(stdout.trim(), { head, held })).split("\n");
    const shown = withoutInstants(answer).split("\n");
    expect({ command, exitCode }).toEqual({ command, exitCode: 0 });
    expect(shown.length).toBeGreaterThan(4);
    expect(shown.filter((line) => line !== "…" && !printed.includes(line))).toEqual([]);
  }
});

/** The time of this computer, by which the commands tell ages, but what a run waits for comes soon. */
const IMPATIENT: Clock = {
  now: () => systemClock.now(),
  monotonicMs: () => systemClock.monotonicMs(),
  sleep: (ms, signal) => systemClock.sleep(ms / 100, signal),
};

function firstDay(service: Simulator): void {
  service.setEvents(makeEvents(20));
}

/** Six events are no longer listed, one has another name, one is new, and one is listed but not licensed. */
function worseDay(service: Simulator): void {
  const listed = service.listed();
  for (const { uuid } of listed.slice(0, 6)) service.unlist(uuid);
  const [renamed, forbidden] = listed.slice(6);
  if (renamed === undefined || forbidden === undefined) throw new Error("too few events");
  const source = service.detailSource(renamed.uuid).replace(/("name": *)"[^"]*"/, '$1"Another name"');
  service.change(renamed.uuid, { source });
  service.restrict(forbidden.uuid);
  service.add(makeEvent(1_000));
}

interface Section {
  readonly page: string;
  readonly heading: string;
}

/** Each block with a command, and the block of its answer below it. */
function stepsBelow(section: Section) {
  const blocks = blocksBelow(section);
  return blocks.flatMap(({ language, text }, at) => {
    const answer = blocks[at + 1]?.text;
    return language === "sh" && answer !== undefined ? [{ command: text, answer }] : [];
  });
}

/** The lines of the first block without a command. */
function mailBelow(section: Section): readonly string[] {
  return (
    blocksBelow(section)
      .find(({ language }) => language === "text")
      ?.text.split("\n") ?? []
  );
}

function blocksBelow({ page, heading }: Section) {
  const found = sectionOf(page, heading).matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return [...found].map(([, language = "", text = ""]) => ({ language, text: text.trim() }));
}

/** A text of a test, with the names of the page. */
function asShown(text: string, { head, held }: Names): string {
  return text.replaceAll(head, SHOWN.head).replaceAll(held, SHOWN.held);
}

/** Instants, durations and the run of the accept are of the moment. */
function withoutInstants(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "<instant>")
    .replaceAll(/\baccept \d{4}-\S+Z/g, "accept <run>")
    .replaceAll(/\b\d+ s\b/g, "<seconds>");
}
