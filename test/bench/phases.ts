// The processor time of a run by phase, from a profile of Node.js.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Usage } from "./usage-recorder.ts";

/** The part of a `.cpuprofile` that this file reads. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node that ran at each sample. */
  readonly samples: readonly number[];
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

export const PHASES = [
  "start-up",
  "fetch",
  "parse and scan",
  "stage",
  "build",
  "diff",
  "finish",
  "memory management",
  "other threads",
] as const;
type PhaseName = (typeof PHASES)[number];

/** Milliseconds of processor time. `other threads` is mostly zlib, and the helper threads of V8. */
export type Phases = Readonly<Record<PhaseName, number>>;

export async function readProfile(folder: string): Promise<CpuProfile> {
  const [file] = await readdir(folder);
  return JSON.parse(await readFile(join(folder, file ?? ""), "utf8"));
}

/**
 * A sample belongs to the stage of the run in which it was taken (a stage begins at the first sample in its files).
 * Within COLLECT the innermost file of the project decides.
 */
export function phasesOf({ nodes, samples, timeDeltas }: CpuProfile, usage: Usage): Phases {
  const stacks = stacksOf(nodes);
  const phases = Object.fromEntries(PHASES.map((name) => [name, 0])) as Record<PhaseName, number>;
  const lastOfCollect = samples.findLastIndex((id) => isIn(stacks.get(id), COLLECT));
  const beginnings = STAGES.map(({ files, isAfterCollect }) =>
    samples.findIndex((id, at) => (!isAfterCollect || at > lastOfCollect) && isIn(stacks.get(id), files)),
  );
  const lastOfDiff = samples.findLastIndex((id) => isIn(stacks.get(id), DIFF));
  for (const [index, id] of samples.entries()) {
    const { name, files } = stacks.get(id) ?? { name: "", files: [] };
    if (name === "(idle)") continue;
    const stage = STAGES.findLast((_, at) => (beginnings[at] ?? -1) >= 0 && index >= (beginnings[at] ?? 0));
    const ms = (timeDeltas[index] ?? 0) / 1_000;
    if (name === "(garbage collector)") phases["memory management"] += ms;
    else if (stage === undefined) phases["start-up"] += ms;
    else if (stage.phase === "diff") phases[index <= lastOfDiff ? "diff" : "finish"] += ms;
    else phases[stage.phase ?? collecting(files)] += ms;
  }
  phases["other threads"] = Math.max(0, usage.cpuMs - usage.mainThreadMs);
  return phases;
}

const COLLECT = ["lambdas/job/service/requests/api-client.ts"];
/** Works while events are collected, too. */
const BUILDER = "lambdas/job/run/build/";
const DIFF = ["lambdas/job/run/publish/commit.ts", "lambdas/job/snapshot/rows/compare-snapshots.ts"];

/** In their order. A stage without a phase runs several kinds of work at the same time. */
const STAGES: readonly {
  readonly files: readonly string[];
  readonly phase?: PhaseName;
  readonly isAfterCollect?: true;
}[] = [
  { files: COLLECT },
  { files: [BUILDER], phase: "build", isAfterCollect: true },
  { files: DIFF, phase: "diff" },
];

const PARSING = [
  "lambdas/job/json/json-line.ts",
  "lambdas/job/json/json-scanner.ts",
  "lambdas/job/snapshot/rows/lifted-column.ts",
  "lambdas/job/snapshot/rows/row.ts",
  "lambdas/job/json/json-scanner.ts",
  "lambdas/job/service/events/read-detail.ts",
  "lambdas/job/service/events/shape.ts",
  "lambdas/job/service/events/list/",
];
const STAGING = [
  "lambdas/job/snapshot/files/parts.ts",
  "lambdas/job/snapshot/files/gzip-lines.ts",
  "lambdas/job/snapshot/staging/plan.ts",
  "lambdas/job/snapshot/staging/chain.ts",
  "lambdas/job/storage/directory/directory-store.ts",
  "lambdas/job/storage/directory/durable-file.ts",
  "node:zlib",
  "node:fs",
  "node:internal/fs/",
  "node:internal/crypto/",
];

/** From the innermost file outwards. Samples in no file of the project (streams, sockets, promises) count as fetching. */
function collecting(files: readonly string[]): PhaseName {
  if (files.some((file) => file.includes(BUILDER))) return "build";
  for (const file of files) {
    if (PARSING.some((part) => file.includes(part))) return "parse and scan";
    if (STAGING.some((part) => file.includes(part))) return "stage";
    if (file.includes("lambdas/")) return "fetch";
  }
  return "fetch";
}

interface Stack {
  /** Of the innermost function. */
  readonly name: string;
  /** Innermost first. */
  readonly files: readonly string[];
}

function stacksOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, Stack> {
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((id) => [id, node] as const)));
  const stackOf = (node: ProfileNode): Stack => {
    const files: string[] = [];
    for (let at: ProfileNode | undefined = node; at; at = parents.get(at.id)) files.push(at.callFrame.url);
    return { name: node.callFrame.functionName, files };
  };
  return new Map(nodes.map((node) => [node.id, stackOf(node)]));
}

function isIn(stack: Stack | undefined, files: readonly string[]): boolean {
  return stack?.files.some((file) => files.some((part) => file.includes(part))) ?? false;
}
