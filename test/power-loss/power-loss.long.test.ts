// Wherever power goes in the life of an account, readers see one whole snapshot, the old one or the new one, and the next
// run ends as it does without the cut.

import { beforeAll, describe, expect, it } from "vitest";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { ACCOUNT, type SmallWorld } from "../job/run/small-world.ts";
import { Reader } from "../simulation/model/reader.ts";
import { Objects } from "../simulation/warehouse/objects.ts";
import { Disk, type Files } from "./disk.ts";
import { type Done, GONE, type History, live, newWorld, withoutSyncs } from "./recorded.ts";

const MINUTE_MS = 61_000;
const ENOUGH = 20;
/** Other work may have the processor. */
const PATIENT_MS = 300_000;

/** One command of a history. */
interface Step {
  readonly done: Done;
  /** What a program saw before it, and when it had ended. */
  readonly before: Files;
  readonly after: Files;
  /** What may be on the disk if power goes meanwhile, without what an earlier step may have left. */
  readonly states: readonly Files[];
  /** What may be there when it has ended. */
  readonly atEnd: readonly Files[];
  /** The publications that there were at some point of it. */
  readonly logs: ReadonlySet<string>;
}

function* stepsOf({ root, record }: History): Generator<Step> {
  const disk = new Disk(root, record);
  const seen = new Set<string>();
  let states: Files[] = [];
  let before: Files = new Map();
  let logs = new Set<string>();
  for (let line = disk.next(); line; line = disk.next()) {
    const open = [...disk.states()];
    for (const { name, files } of open) {
      if (!seen.has(name)) states.push(files);
      seen.add(name);
    }
    const after = disk.live();
    logs.add(logOf(after));
    if (line.kind !== "reached") continue;
    const done: Done = JSON.parse(line.what);
    yield { done, before, after, states, atEnd: open.map(({ files }) => files), logs };
    before = after;
    states = [];
    logs = new Set([logOf(after)]);
  }
}

/** What counts of the log: of what a removal is about to delete, anything may be left. */
function logOf(files: Files): string {
  const log = [...files.keys()].filter((path) => path.startsWith("publications/")).sort();
  const from = log.findLastIndex((path) => latin1(files.get(path)).includes('"action":"remove"'));
  return log.slice(Math.max(from, 0)).join();
}

const latin1 = (file: Uint8Array | undefined): string => Buffer.from(file ?? []).toString("latin1");

/** The account's own files, as one text. */
const contentOf = (files: Files): string =>
  [...files]
    .flatMap(([path, bytes]) => (path.startsWith(".") ? [] : [`${path}: ${latin1(bytes)}`]))
    .sort()
    .join();

function readerOf(files: Files): Reader {
  const objects = new Objects(
    () => 0,
    () => undefined,
  );
  for (const [path, bytes] of files) if (!path.startsWith(".")) objects.put(path, bytes, "");
  return new Reader(() => objects, ACCOUNT);
}

/** The rows of each published snapshot, and the changes of each publication, by what names them. */
class Published {
  readonly #known = new Map<string, string>();

  /** Reads what is there now for the first time. */
  learn(files: Files): void {
    const reader = readerOf(files);
    for (const publication of reader.log()) {
      const { snapshot_id: id, publication: number } = publication;
      if (!this.#known.has(id)) this.#known.set(id, JSON.stringify(reader.rows(id)));
      if (!this.#known.has(number)) this.#known.set(number, JSON.stringify(reader.changes(publication)));
    }
  }

  /** What readers miss of what the log and the views name; undefined where all is there. */
  missing(files: Files): string | undefined {
    const reader = readerOf(files);
    const log = reader.log();
    const views = latin1(files.get("views.sql")).matchAll(new RegExp(`snapshots/${ACCOUNT}/([^/]+)/`, "g"));
    const ids = log.map(({ snapshot_id }) => snapshot_id);
    const readable = ids.filter((id) => !files.has(`${reader.snapshotFolder(id)}_retired.json`));
    for (const id of new Set([...readable, ...[...views].map(([, id = ""]) => id)]))
      if (JSON.stringify(reader.rows(id)) !== this.#known.get(id)) return `the snapshot ${id}`;
    for (const publication of log)
      if (JSON.stringify(reader.changes(publication)) !== this.#known.get(publication.publication))
        return `the changes of ${publication.publication}`;
    return undefined;
  }
}

/** How the next run ends, a minute after the power came back. */
async function nextRun(files: Files, { done, before }: Pick<Step, "done" | "before">): Promise<string> {
  const world = newWorld();
  const put = (isOld: boolean): void => {
    for (const [path, bytes] of files)
      if (!path.startsWith(".") && before.has(path) === isOld) world.store.put(path, bytes);
  };
  put(true);
  world.clock.advance(done.atMs - world.clock.now());
  put(false);
  world.clock.advance(MINUTE_MS);
  for (const [number, version] of done.events) world.events.set(number, version);
  const catalog = new DuckdbCatalog({ store: world.store, directory: "/warehouse" });
  const ports = { ...world.ports(), catalog, isGone: () => true };
  const { row } = await world.run({}, ports);
  const end = [row.outcome, row.reason ?? row.error_message ?? ""].join(" ");
  if (row.outcome !== "PUBLISHED") return end;

  const keys = world.store.keys();
  const reader = readerOf(
    new Map(await Promise.all(keys.map(async (key) => [key, await bytesIn(world, key)] as const))),
  );
  const rows = reader.rows(reader.log().at(-1)?.snapshot_id ?? "")?.map(({ uuid, event }) => [uuid, event]);
  world.events.delete(GONE);
  return JSON.stringify(rows) === JSON.stringify([...world.truth()]) ? end : `${end} with other events`;
}

const bytesIn = async (world: SmallWorld, key: string): Promise<Uint8Array> =>
  (await world.store.read(key))?.bytes ?? new Uint8Array();

interface Found {
  /** How each command ended, and how many parts of snapshots there were then. */
  readonly steps: readonly string[];
  readonly states: number;
  /** The first ones. */
  readonly problems: readonly string[];
}

/** Lives the history again, and cuts the power everywhere. */
async function cutEverywhere(history: History): Promise<Found> {
  const published = new Published();
  const steps: string[] = [];
  const problems: string[] = [];
  let states = 0;
  for (const step of stepsOf(history)) {
    const { done, before, after, atEnd } = step;
    const parts = [...after.keys()].filter((path) => /^snapshots\/.*\/part-/.test(path));
    steps.push(`${done.outcome}, ${parts.length}`);
    published.learn(after);
    if (atEnd.some((files) => contentOf(files) !== contentOf(after)))
      problems.push(`step ${steps.length} has ended, and is not on disk`);
    const ends = new Set([await nextRun(before, step), await nextRun(after, step)]);
    for (const files of step.states) {
      states += 1;
      const problem = readersProblem(files, step, published) ?? (await runsProblem(files, step, ends));
      if (problem !== undefined) problems.push(`step ${steps.length} (${done.outcome}): ${problem}`);
      if (problems.length === ENOUGH) return { steps, states, problems };
    }
  }
  return { steps, states, problems };
}

function readersProblem(files: Files, { logs }: Step, published: Published): string | undefined {
  if (!logs.has(logOf(files))) return `the log has ${logOf(files)}`;
  const missing = published.missing(files);
  return missing && `${missing} is not whole`;
}

async function runsProblem(files: Files, step: Step, ends: ReadonlySet<string>): Promise<string | undefined> {
  const end = await nextRun(files, step);
  return ends.has(end)
    ? undefined
    : `the next run ends as ${end}; without the cut as ${[...ends].join(" or ")}`;
}

describe("where power goes in the life of an account", () => {
  let history: History;

  beforeAll(() => {
    history = live("runs");
  }, PATIENT_MS);

  it(
    "readers see one whole snapshot, and the next run ends as it does without the cut",
    async () => {
      const { steps, states, problems } = await cutEverywhere(history);

      expect(problems).toEqual([]);
      expect(states).toBeGreaterThan(150);
      expect(steps).toEqual([
        "PUBLISHED, 1",
        // Stopped, with a range of rows; the run that resumes has a second one.
        "FAILED, 1",
        "PUBLISHED, 3",
        "HELD, 4",
        // The held one is accepted, the first one again and pinned, a run is held by the pin, the second one accepted.
        "PUBLISHED, 4",
        "PUBLISHED, 4",
        "HELD, 5",
        "PUBLISHED, 5",
        // Days pass: retention retires, and deletes; what was held stays for 30 days.
        "PUBLISHED, 6",
        "PUBLISHED, 6",
        "PUBLISHED, 5",
        "removed, 0",
      ]);
    },
    PATIENT_MS,
  );

  it.each(["file", "folder"] as const)("it would be otherwise if no %s was synced", async (of) => {
    const { problems } = await cutEverywhere(withoutSyncs(history, of));

    expect(problems.filter((problem) => /snapshot|run ends/.test(problem))).not.toEqual([]);
  });
});
