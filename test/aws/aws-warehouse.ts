// A warehouse on the emulator: a bucket with a prefix, a database with the stack's tables, both adapters over them.

import { GlueCatalog } from "../../lambdas/job/catalog/glue/glue-catalog.ts";
import { warehouseLocation } from "../../lambdas/job/catalog/glue/glue-tables.ts";
import { systemClock, systemRandom } from "../../lambdas/job/runtime/clock.ts";
import { S3Store } from "../../lambdas/job/storage/s3/s3-store.ts";
import { type AwsClients, awsClients, freshBucket, freshDatabase } from "./emulator.ts";
import { GlueReader } from "./glue-reader.ts";

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
