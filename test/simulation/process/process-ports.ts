// The ports of one process: the real job of `lambdas/job` on the world's store, catalog, service and clocks.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import { DuckdbCatalog } from "../../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { GlueCatalog } from "../../../lambdas/job/catalog/glue/glue-catalog.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { RunSettings } from "../../../lambdas/job/run/run-settings.ts";
import { serviceOpener } from "../../../lambdas/job/run/service-opener.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import { S3Store } from "../../../lambdas/job/storage/s3/s3-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { Chance } from "../chance.ts";
import { VirtualTransport } from "../network/virtual-transport.ts";
import type { ClockFault } from "../plan/plan.ts";
import { ProcessClock } from "../time/process-clock.ts";
import { awsClients } from "../warehouse/aws-clients.ts";
import { DirectoryTwin } from "../warehouse/directory-twin.ts";
import { glueEndpoint } from "../warehouse/glue-endpoint.ts";
import { s3Endpoint } from "../warehouse/s3-endpoint.ts";
import type { World } from "../world.ts";
import type { Host } from "./host.ts";
import type { SimProcess } from "./sim-process.ts";

const BUCKET = "warehouse";
const DIRECTORY = "/warehouse";

export interface ProcessOf {
  readonly world: World;
  readonly process: SimProcess;
  /** Of all processes of the world. */
  readonly nth: number;
  readonly settings: RunSettings;
  readonly clockFault: ClockFault | undefined;
  readonly host: Host;
  readonly onRunId: (runId: string) => void;
}

export function processPorts(of: ProcessOf): RunPorts {
  const { world, process, settings, host, onRunId } = of;
  const { timeline, story, service } = world;
  const chance = new Chance(world.plan.seed, `random of ${process.name}`);
  const random = { next: () => chance.next(), token: () => chance.token() };
  const clock = new ProcessClock(timeline, process, of.clockFault);
  const tell = (message: string): void => story.tell(process.name, `says: ${message}`);
  const logger: Logger = { debug: () => undefined, info: tell, warn: tell, error: tell };
  const transport = new VirtualTransport({ process, service, timeline, story, observer: world.model });
  const credentials = world.credentialsOf(process);
  return {
    ...warehouseOf(of, random),
    ...host,
    clock,
    random,
    logger,
    openService: serviceOpener(settings, {
      credentials,
      authorization: { tokens: async () => world.tokens.seenBy(process), command: "authorize" },
      clock,
      random,
      logger,
      version: VERSION,
      transport,
    }),
    onProgress: () => undefined,
    onRunId,
    version: VERSION,
  };
}

function warehouseOf(
  { world, process, nth }: ProcessOf,
  random: RunPorts["random"],
): { readonly store: Store; readonly catalog: Catalog } {
  const { objects, glue, plan } = world;
  if (plan.setting.warehouse === "directory") {
    const store = new DirectoryTwin(objects, process);
    return { store, catalog: new DuckdbCatalog({ store, directory: DIRECTORY }) };
  }
  const lag = new Chance(plan.seed, `lag of ${process.name}`);
  const { s3, glue: client } = awsClients(nth, {
    s3: s3Endpoint(objects, process),
    glue: glueEndpoint(glue, process, () => lag.next()),
  });
  const store = new S3Store({ client: s3, bucket: BUCKET, prefix: "", random });
  return {
    store,
    catalog: new GlueCatalog({ client, store, database: "brand_events", location: `s3://${BUCKET}` }),
  };
}

const VERSION = "0.0.0";
