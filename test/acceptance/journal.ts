// Changes that the acceptance makes to a deployment: each is written down before it is made, and undone after it, by
// `--restore` too where a process was killed in between.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

import { z } from "zod";
import { type Clients, invoke, readHead } from "./deployment.ts";

const changeSchema = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("alarm"),
    name: z.string(),
    state: z.enum(["OK", "ALARM", "INSUFFICIENT_DATA"]),
  }),
  /** By a rollback; it has ended where a snapshot was accepted. */
  z.object({ kind: z.literal("pin"), functionName: z.string(), account: z.string() }),
  z.object({ kind: z.literal("object"), bucket: z.string(), key: z.string() }),
  /** The execution has ended by itself where nothing was killed. */
  z.object({ kind: z.literal("execution"), arn: z.string() }),
  z.object({ kind: z.literal("schedule"), group: z.string(), name: z.string() }),
]);
/** The errors for what is not there. */
const MISSING = new Set(["NotFound", "ResourceNotFoundException", "ExecutionDoesNotExist"]);

/** What undoing it needs. */
export type Change = Readonly<z.output<typeof changeSchema>>;

export class Journal {
  readonly #path: string;
  readonly #clients: Clients;

  constructor(path: string, clients: Clients) {
    this.#path = path;
    this.#clients = clients;
  }

  /** Makes a change, does what needs it, and undoes it, also if that fails. */
  async during<Result>(change: Change, work: () => Promise<Result>): Promise<Result> {
    await this.#write([...(await this.#read()), change]);
    try {
      return await work();
    } finally {
      await this.restore();
    }
  }

  /** Undoes all changes that are written down, the last one first, and says which. */
  async restore(): Promise<readonly string[]> {
    const undone: string[] = [];
    for (let changes = await this.#read(); changes.length > 0; changes = changes.slice(0, -1)) {
      const [change] = changes.slice(-1);
      if (change !== undefined) undone.push(await this.#undo(change));
      await this.#write(changes.slice(0, -1));
    }
    return undone;
  }

  async #undo(change: Change): Promise<string> {
    const { cloudWatch, s3, scheduler, stepFunctions } = this.#clients;
    switch (change.kind) {
      case "alarm":
        await cloudWatch.setAlarmState({
          AlarmName: change.name,
          StateValue: change.state,
          StateReason: "The acceptance has ended.",
        });
        return `the alarm ${change.name} is ${change.state} again`;
      case "pin": {
        const { functionName, account } = change;
        const head = await readHead(this.#clients, functionName, account);
        if (head?.pinned) {
          const snapshotId = head.snapshot_id;
          await invoke(this.#clients, functionName, { action: "accept", account, snapshotId });
        }
        return `the account ${account} is not pinned`;
      }
      case "object": {
        const object = { Bucket: change.bucket, Key: change.key };
        const found = await s3.headObject(object).catch(ignoreMissing);
        // Without its version it would leave a mark of its deletion; for one that is not there too.
        if (found !== undefined) await s3.deleteObject({ ...object, VersionId: found.VersionId });
        return `${change.key} is deleted`;
      }
      case "execution": {
        const executionArn = change.arn;
        const found = await stepFunctions.describeExecution({ executionArn }).catch(ignoreMissing);
        if (found?.status === "RUNNING") await stepFunctions.stopExecution({ executionArn });
        return `the execution ${executionArn.split(":").at(-1)} does not run`;
      }
      case "schedule":
        await scheduler.deleteSchedule({ GroupName: change.group, Name: change.name }).catch(ignoreMissing);
        return `the schedule ${change.name} is deleted`;
    }
  }

  async #read(): Promise<readonly Change[]> {
    try {
      return z.array(changeSchema).parse(JSON.parse(await readFile(this.#path, "utf8")));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
      throw error;
    }
  }

  async #write(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return rm(this.#path, { force: true });
    await mkdir(dirname(this.#path), { recursive: true });
    await writeFile(this.#path, `${JSON.stringify(changes, null, 2)}\n`);
  }
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof Error && MISSING.has(error.name))) throw error;
}
