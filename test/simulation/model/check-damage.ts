// Damage: what is damaged is neither published nor compared with, and a process that finds it names the file.

import type { RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import type { Ended } from "../process/do-command.ts";
import type { Model, ProcessFacts } from "./model.ts";
import { type SeenRow, wrongIn } from "./reader.ts";

const isNeeded = (key: string): boolean => key.includes("/part-") || key.endsWith("/_manifest.json");

/** A part or the manifest: nothing depends on the other files. */
export function isDamaged({ world, reader }: Model, snapshotId: string): boolean {
  const folder = reader.snapshotFolder(snapshotId);
  return world.objects.damaged.some((key) => key.startsWith(folder) && isNeeded(key));
}

/** Anything of the account, or of the whole warehouse: then its tables may stay as they were, or lack what is damaged. */
export function hasDamage({ world, account }: Model): boolean {
  return [...world.objects.everDamaged].some((key) => (key.split("/")[1] ?? account.name) === account.name);
}

/** A process has ended by itself. */
export function checkFound(model: Model, facts: ProcessFacts, ended: Ended): void {
  const error = ended.error ?? ended.result?.error;
  if (error?.code === "STORE_CORRUPT") checkNamed(model, facts, ended, error.message);
  if (ended.diff) checkDiff(model, facts, ended.diff);
  if (ended.result?.differing) checkDryRun(model, facts, ended.result.row);
}

/** A person restores the file that the message names. A start of a run that is finished repeats what was found then. */
function checkNamed(model: Model, facts: ProcessFacts, { result }: Ended, message: string): void {
  if (OF_A_LATER_VERSION.test(message)) return;
  const key = FILE.exec(message)?.[0] ?? "";
  const fromMs = model.runsFromMs.get(result?.row.run_id ?? "") ?? facts.fromMs;
  if (isOfOtherBase(model, facts, key)) return;
  if (!model.world.objects.everDamaged.has(key) && !hasGone(model, { fromMs }, key))
    model.fail(`${facts.name} says that a file is damaged which is not: ${message}`);
}

/** A decision that restarts writes other changes than one that does not, and one of them was stopped. */
function isOfOtherBase({ reader }: Model, { start: { command } }: ProcessFacts, key: string): boolean {
  const [folder, , publication = "", snapshotId = ""] = key.split("/");
  const isDecision = command.name === "accept" || command.name === "rollback";
  if (!isDecision || folder !== "changes") return false;
  return !reader.log().some((each) => each.publication === publication && each.snapshot_id === snapshotId);
}

/** Version 0.1 takes an end with a code that it does not know, such as `CLOCK_WRONG`, for a damaged file. */
const OF_A_LATER_VERSION = /row\.error_code: Invalid option/;

const FILE = /[\w./-]+[.]\w+/;

/** Files of a snapshot may go while a process looks: they are removed, or were retired. `diff` takes any snapshot that is there. */
function hasGone(
  { removedAtMs = 0, retiredAtMs, runsFromMs }: Model,
  { fromMs }: Pick<ProcessFacts, "fromMs">,
  key: string,
): boolean {
  const [, , runId = ""] = key.split("/");
  return removedAtMs > Math.min(fromMs, runsFromMs.get(runId) ?? fromMs) || retiredAtMs.size > 0;
}

function checkDiff(model: Model, facts: ProcessFacts, { a, b, changes }: NonNullable<Ended["diff"]>): void {
  const { name } = facts;
  // What is deleted while a process reads it cannot be compared again.
  if ([a, b].some((id) => id !== null && isIncomplete(model, facts, id))) return;
  if (isDamaged(model, a) || (b !== null && isDamaged(model, b)))
    model.fail(`${name} compares what is damaged`);
  const rows = (id: string | null): readonly SeenRow[] => (id === null ? [] : (model.reader.rows(id) ?? []));
  const wrong = wrongIn(rows(b), changes, rows(a));
  if (wrong) model.fail(`the changes that ${name} finds ${wrong}`);
}

function isIncomplete(model: Model, facts: ProcessFacts, snapshotId: string): boolean {
  const { reader, world } = model;
  const folder = reader.snapshotFolder(snapshotId);
  if (!hasGone(model, facts, folder)) return false;
  const parts = reader.manifest(snapshotId)?.parts;
  return parts?.every(({ file }) => world.objects.asWritten(`${folder}${file}`) !== undefined) !== true;
}

/** No more events are the same or changed than were so at some instant. */
function checkDryRun(
  model: Model,
  { name, fromMs }: ProcessFacts,
  { changed, removed }: Pick<RunLogEntry, "changed" | "removed">,
): void {
  const { content } = model.account.service;
  const { nowMs } = model.world.timeline;
  // The head of its beginning may be another one by now, or removed.
  const isPossible = model.heads.rows.some((rows) => {
    const count = (holds: (text: string, event: string) => boolean): number =>
      rows.filter(({ uuid, event }) =>
        content.wasEver(
          uuid,
          fromMs,
          nowMs,
          ({ text, refusal }) => refusal === undefined && holds(text, event),
        ),
      ).length;
    const same = rows.length - (changed ?? 0) - (removed ?? 0);
    return (
      same >= 0 &&
      same <= count((text, event) => text === event) &&
      (changed ?? 0) <= count((text, event) => text !== event)
    );
  });
  if (!isPossible) model.fail(`${name} says that ${changed} events changed, and that was never so`);
}
