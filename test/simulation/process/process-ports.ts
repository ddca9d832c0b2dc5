// The ports of one process: a real job on the world's store, catalog, service and clocks.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { RunPorts } from "../../../lambdas/job/run/run-ports.ts";
import type { Logger } from "../../../lambdas/job/runtime/logger.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";
import { portsWith } from "../../job/run/run-defaults.ts";
import type { Account } from "../account.ts";
import { Chance } from "../chance.ts";
import { VirtualTransport } from "../network/virtual-transport.ts";
import type { ProcessClock } from "../time/process-clock.ts";
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
  readonly account: Account;
  readonly clock: ProcessClock;
  readonly chance: Chance;
  readonly host: Host;
}

export function processPorts(of: ProcessOf): RunPorts {
  const { world, process, account, clock, chance, host } = of;
  const { timeline, story } = world;
  const { model, service, settings, tokens } = account;
  const random = { next: () => chance.next(), token: () => chance.token() };
  const tell = (message: string): void => story.tell(process.name, `says: ${message}`);
  const logger: Logger = { debug: () => undefined, info: tell, warn: tell, error: tell };
  const transport = new VirtualTransport({ process, service, timeline, story, observer: model });
  const credentials = account.credentialsOf(process);
  const { store, catalog } = warehouseOf(of, random);
  return portsWith({
    store: process.job.accountStore(store, settings.account),
    catalog,
    ...host,
    clock,
    random,
    logger,
    openService: process.job.serviceOpener(settings, {
      credentials,
      authorization: { tokens: async () => tokens.seenBy(process), command: "authorize" },
      clock,
      random,
      logger,
      transport,
    }),
    onRunId: (id) => model.onRunId(process.name, id),
  });
}

function warehouseOf(
  { world, process, nth, clock }: ProcessOf,
  random: RunPorts["random"],
): { readonly store: Store; readonly catalog: Catalog } {
  const { objects, uploads, glue, plan } = world;
  const { DuckdbCatalog, GlueCatalog, S3Store } = process.job;
  if (plan.setting.warehouse === "directory") {
    const store = new DirectoryTwin(objects, process);
    return { store, catalog: new DuckdbCatalog({ store, directory: DIRECTORY }) };
  }
  const lag = new Chance(plan.seed, `lag of ${process.name}`);
  const { s3, glue: client } = awsClients(nth, {
    s3: s3Endpoint(objects, uploads, process),
    glue: glueEndpoint(glue, process, () => lag.next()),
  });
  const { partBytes } = plan.setting;
  const store = new S3Store({ client: s3, bucket: BUCKET, prefix: "", random, partBytes });
  const location = `s3://${BUCKET}`;
  return { store, catalog: new GlueCatalog({ client, store, database: "brand_events", location, clock }) };
}
