// Reads a table as Athena does: Glue's partitions, the files below their locations, the columns of each partition.

import { gunzipSync } from "node:zlib";
import { GetPartitionsCommand, type GlueClient, type Partition } from "@aws-sdk/client-glue";
import { GetObjectCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import type { TableName } from "../../lambdas/job/storage/layout.ts";

export type GlueRow = Readonly<Record<string, unknown>>;

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
