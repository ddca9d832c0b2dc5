// A deployed warehouse, used from a laptop: the stack's bucket and its tables in Glue.

import { GlueClient } from "@aws-sdk/client-glue";
import { S3Client } from "@aws-sdk/client-s3";
import { GlueCatalog } from "../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { warehouseLocation } from "../../../lambdas/job/catalog/glue/glue-table.ts";
import { awsClient } from "../../../lambdas/job/network/aws-client.ts";
import type { Proxies } from "../../../lambdas/job/network/proxies.ts";
import { systemRandom } from "../../../lambdas/job/runtime/system-random.ts";
import { parseS3Location } from "../../../lambdas/job/storage/s3/s3-location.ts";
import { S3Store } from "../../../lambdas/job/storage/s3/s3-store.ts";
import { awsReady } from "./aws-ready.ts";
import type { Warehouse } from "./warehouse.ts";

/** Asks nothing of AWS. Throws `CONFIG_INVALID` for a wrong location, and without region or credentials. */
export async function openS3Warehouse(
  warehouse: string,
  database: string,
  proxies: Proxies,
): Promise<Warehouse> {
  const aws = awsClient(proxies);
  const { bucket, prefix } = parseS3Location(warehouse);
  const store = new S3Store({
    client: await awsReady(new S3Client(aws)),
    bucket,
    prefix,
    random: systemRandom,
  });
  const location = warehouseLocation(bucket, prefix);
  const catalog = new GlueCatalog({ client: new GlueClient(aws), store, database, location });
  return { store, catalog };
}
