// Glue in memory: that of the simulation as it is now, behind a client that sends nothing.

import { GlueClient } from "@aws-sdk/client-glue";
import { GlueCatalog } from "../../../../lambdas/job/catalog/glue/glue-catalog.ts";
import type { TableName } from "../../../../lambdas/job/storage/layout.ts";
import type { Store } from "../../../../lambdas/job/storage/store.ts";
import { members } from "../../../simulation/warehouse/aws-clients.ts";
import { type GluePartition, GlueTables, respond } from "../../../simulation/warehouse/glue.ts";

export const LOCATION = "s3://bucket/prefix";

/** Called before each request, and may throw. */
type OnRequest = (action: string, table: string) => Promise<void>;

export class MemoryGlue {
  onRequest: OnRequest = async () => undefined;
  readonly tables = new GlueTables(() => 0, 0, {
    onPartition: () => undefined,
    onPartitionRemoved: () => undefined,
  });
  readonly #client = new GlueClient({ region: "eu-west-1" });

  constructor() {
    this.#client.middlewareStack.add(
      (_, { commandName = "" }) =>
        async (sent) => {
          const input = members(sent.input);
          const action = commandName.replace(/Command$/, "");
          await this.onRequest(action, String(input["TableName"] ?? input["Name"]));
          const answer = respond(this.tables, "a process", action, input, 0);
          return { output: { $metadata: {}, ...answer }, response: undefined };
        },
      { step: "initialize" },
    );
  }

  /** Of a warehouse that lies at `LOCATION`. */
  catalog(store: Store): GlueCatalog {
    const clock = { sleep: async () => undefined };
    return new GlueCatalog({ client: this.#client, store, database: "events", location: LOCATION, clock });
  }

  /** In the order of their values. */
  partitions(table: TableName): readonly GluePartition[] {
    return this.tables
      .listed(table, undefined, 0)
      .toSorted((a, b) => (`${a.values}` < `${b.values}` ? -1 : 1));
  }
}
