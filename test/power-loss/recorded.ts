// The record of a history: lived once by a process of its own, replayed as often as a test likes.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SmallWorld } from "../job/run/small-world.ts";
import type { Recorded } from "./disk.ts";

/** What a command has done, and how the world was then. */
export interface Done {
  readonly outcome: string;
  readonly atMs: number;
  /** What the service lists: number and version. */
  readonly events: readonly (readonly [number, number])[];
}

/** The event that the service lists and does not have. */
export const GONE = 9;

/** The world of the history `runs`, and of the next run after a cut. */
export function newWorld(): SmallWorld {
  const world = new SmallWorld({ retainDays: 1 });
  world.gone.add(GONE);
  return world;
}

export interface History {
  /** The folder that it worked in. It is gone. */
  readonly root: string;
  readonly record: readonly Recorded[];
}

export function live(history: "calls" | "tokens" | "runs"): History {
  const folder = mkdtempSync(join(tmpdir(), "power-loss-"));
  try {
    const root = join(folder, "root");
    mkdirSync(root);
    const record = join(folder, "record");
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(import.meta.dirname, "history.ts"), history, root],
      { env: { ...process.env, POWER_LOSS_RECORD: record }, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`the history ${history} ended with ${status}: ${stderr}`);
    const lines = readFileSync(record, "utf8").split("\n").filter(Boolean);
    return { root, record: lines.map((line): Recorded => JSON.parse(line)) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As a program would have lived it that syncs no file, or no folder. */
export function withoutSyncs({ root, record }: History, of: "file" | "folder"): History {
  const files = new Set<number>();
  for (const line of record)
    if (line.kind === "begin" && line.call.name === "open" && line.call.mayCreate)
      files.add(line.call.handle);
  const isKept = (line: Recorded): boolean =>
    line.kind !== "begin" || line.call.name !== "sync" || files.has(line.call.handle) !== (of === "file");
  return { root, record: record.filter(isKept) };
}
