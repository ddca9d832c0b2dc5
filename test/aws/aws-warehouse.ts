// A warehouse on the emulator: a bucket with a prefix, a database with the stack's tables, both adapters over them, what
// Athena would read of it, and clients in a process that crashes.

import { gunzipSync } from "node:zlib";
import { GetPartitionsCommand, type GlueClient, type Partition } from "@aws-sdk/client-glue";
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { GlueCatalog } from "../../lambdas/job/catalog/glue/glue-catalog.ts";
import { warehouseLocation } from "../../lambdas/job/catalog/glue/glue-tables.ts";
import { systemClock, systemRandom } from "../../lambdas/job/runtime/clock.ts";
import type { TableName } from "../../lambdas/job/storage/layout.ts";
import { S3Store } from "../../lambdas/job/storage/s3/s3-store.ts";
import type { CrashPoint } from "../job/run/crash.ts";
import { type AwsClients, awsClients, freshBucket, freshDatabase } from "./emulator.ts";

export interface AwsWarehouse {
  readonly bucket: string;
  readonly database: string;
  readonly location: string;
  readonly store: S3Store;
  readonly catalog: GlueCatalog;
  readonly reader: GlueReader;
}

export const PREFIX = "brand/events/";

export async function awsWarehouse(
  lifted: readonly string[] = [],
  clients: AwsClients = awsClients(),
): Promise<AwsWarehouse> {
  const good = awsClients();
  const bucket = await freshBucket(good.s3);
  const location = warehouseLocation(bucket, PREFIX);
  const database = await freshDatabase(good.glue, location, lifted);
  const store = new S3Store({ client: clients.s3, bucket, prefix: PREFIX, random: systemRandom });
  const catalog = new GlueCatalog({ client: clients.glue, store, database, location, clock: systemClock });
  return { bucket, database, location, store, catalog, reader: new GlueReader(good, database) };
}

export type GlueRow = Readonly<Record<string, unknown>>;

/** Reads a table as Athena does: Glue's partitions, the files below their locations, the columns of each partition. */
export class GlueReader {
  readonly #glue: GlueClient;
  readonly #s3: S3Client;
  readonly #database: string;

  constructor(clients: { readonly glue: GlueClient; readonly s3: S3Client }, database: string) {
    this.#glue = clients.glue;
    this.#s3 = clients.s3;
    this.#database = database;
  }

  async partitions(table: TableName, account: string): Promise<readonly Partition[]> {
    const request = { DatabaseName: this.#database, TableName: table };
    const { Partitions = [] } = await this.#glue.send(new GetPartitionsCommand(request));
    return Partitions.filter(({ Values = [] }) => Values[0] === account);
  }

  /** The rows of each partition, by its last value; partitions in the order of that value. */
  async rows(table: TableName, account: string): Promise<ReadonlyMap<string, readonly GlueRow[]>> {
    const found: [string, readonly GlueRow[]][] = [];
    for (const partition of await this.partitions(table, account)) {
      found.push([partition.Values?.at(-1) ?? "", await this.#rowsOf(partition)]);
    }
    return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  async #rowsOf({ StorageDescriptor }: Partition): Promise<readonly GlueRow[]> {
    const { Location = "", Columns = [] } = StorageDescriptor ?? {};
    const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]+)\/(.*\/)$/.exec(Location) ?? [];
    if (bucket === "") throw new Error(`${Location} is no location that ends in a slash`);
    const names = Columns.map(({ Name = "" }) => Name);
    const rows: GlueRow[] = [];
    const { Contents = [] } = await this.#s3.send(
      new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }),
    );
    for (const { Key = "" } of Contents) {
      if (/^[_.]/.test(Key.slice(Key.lastIndexOf("/") + 1))) continue;
      for (const line of (await this.#text(bucket, Key)).trimEnd().split("\n")) {
        const row: GlueRow = JSON.parse(line);
        rows.push(Object.fromEntries(names.map((name) => [name, row[name] ?? null])));
      }
    }
    return rows;
  }

  async #text(Bucket: string, Key: string): Promise<string> {
    const { Body } = await this.#s3.send(new GetObjectCommand({ Bucket, Key }));
    const bytes = (await Body?.transformToByteArray()) ?? new Uint8Array();
    return (Key.endsWith(".gz") ? gunzipSync(bytes) : Buffer.from(bytes)).toString("utf8");
  }
}

const READS = /^(Get|List|Head)/;

/** In a process that crashes each call that changes something is an effect, and none follows the crash. An effect is named by its call and by what it changes: `PutObject runs/uk/…`, `UpdatePartition events`. */
export function crashingClients(clients: AwsClients, point: CrashPoint, prefix: string): AwsClients {
  const { s3, glue } = clients;
  s3.middlewareStack.add(
    (next, { commandName = "" }) =>
      (args) => {
        const key = "Key" in args.input ? String(args.input.Key).slice(prefix.length) : "";
        const work = () => next(args);
        return READS.test(commandName) ? point.alive(work) : point.effect(named(commandName, key), work);
      },
    { step: "initialize" },
  );
  glue.middlewareStack.add(
    (next, { commandName = "" }) =>
      (args) => {
        const table = "TableName" in args.input ? String(args.input.TableName) : "";
        const work = () => next(args);
        return READS.test(commandName) ? point.alive(work) : point.effect(named(commandName, table), work);
      },
    { step: "initialize" },
  );
  return clients;
}

const named = (commandName: string, target: string): string =>
  `${commandName.replace(/Command$/, "")} ${target}`;
