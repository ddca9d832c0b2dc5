// Glue in memory: the tables of the stack and their partitions, behind a client that sends nothing.

import { GlueClient, type Partition, type StorageDescriptor } from "@aws-sdk/client-glue";
import * as z from "zod";
import { glueTable } from "../../../../lambdas/job/catalog/glue/glue-tables.ts";
import { TABLES, type TableName } from "../../../../lambdas/job/storage/layout.ts";

const VALUES = z.array(z.string());
const PARTITION = z.object({
  Values: VALUES,
  StorageDescriptor: z.custom<StorageDescriptor>(),
  Parameters: z.record(z.string(), z.string()).optional(),
});
/** Of all actions together. */
const REQUEST = z.object({
  Name: z.string().default(""),
  TableName: z.string().optional(),
  Expression: z.string().default(""),
  PartitionValues: VALUES.default([]),
  PartitionInputList: z.array(PARTITION).max(100).default([]),
  PartitionInput: PARTITION.optional(),
  PartitionsToDelete: z
    .array(z.object({ Values: VALUES }))
    .max(25)
    .default([]),
});
type Request = z.infer<typeof REQUEST>;

/** Called before each request, and may throw. */
type OnRequest = (action: string, table: string) => Promise<void>;

export class MemoryGlue {
  readonly client = new GlueClient({ region: "eu-west-1" });
  onRequest: OnRequest = async () => undefined;
  readonly #tables: ReadonlyMap<string, Map<string, Partition>>;
  readonly #location: string;

  constructor(location: string) {
    this.#location = location;
    this.#tables = new Map(Object.keys(TABLES).map((table) => [table, new Map()]));
    this.client.middlewareStack.add(
      (_, { commandName = "" }) =>
        async ({ input }) => {
          const request = REQUEST.parse(input);
          const action = commandName.replace(/Command$/, "");
          await this.onRequest(action, request.TableName ?? request.Name);
          return { output: { $metadata: {}, ...this.#answer(action, request) }, response: undefined };
        },
      { step: "initialize" },
    );
  }

  /** In the order of their values. */
  partitions(table: TableName): readonly Partition[] {
    return [...this.#of(table)].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, partition]) => partition);
  }

  #answer(action: string, request: Request): object {
    const partitions = this.#of(request.TableName ?? request.Name);
    const problem = (ErrorCode: string, Values: readonly string[]) => ({
      PartitionValues: [...Values],
      ErrorDetail: { ErrorCode },
    });
    switch (action) {
      case "GetTable":
        return { Table: { StorageDescriptor: this.#storage(request.Name) } };
      case "GetPartition": {
        const found = partitions.get(request.PartitionValues.join("/"));
        if (found === undefined) throw notFound();
        return { Partition: found };
      }
      case "GetPartitions": {
        const [, account] = /^account = '(.*)'$/.exec(request.Expression) ?? [];
        return { Partitions: [...partitions.values()].filter(({ Values }) => Values?.[0] === account) };
      }
      case "BatchCreatePartition": {
        const there = request.PartitionInputList.filter(({ Values }) => partitions.has(Values.join("/")));
        for (const made of request.PartitionInputList)
          if (!there.includes(made)) partitions.set(made.Values.join("/"), made);
        return { Errors: there.map(({ Values }) => problem("AlreadyExistsException", Values)) };
      }
      case "UpdatePartition": {
        const { PartitionInput: put } = request;
        const key = put?.Values.join("/") ?? "";
        if (put === undefined || !partitions.has(key)) throw notFound();
        partitions.set(key, put);
        return {};
      }
      case "BatchDeletePartition": {
        const missing = request.PartitionsToDelete.filter(
          ({ Values }) => !partitions.delete(Values.join("/")),
        );
        return { Errors: missing.map(({ Values }) => problem("EntityNotFoundException", Values)) };
      }
      default:
        throw new Error(`${action} is not known`);
    }
  }

  #of(table: string): Map<string, Partition> {
    const found = this.#tables.get(table);
    if (found === undefined) throw notFound();
    return found;
  }

  #storage(name: string): StorageDescriptor {
    const table = Object.keys(TABLES).find((each): each is TableName => each === name);
    if (table === undefined) throw notFound();
    const { columns, location } = glueTable(table, this.#location, []).storageDescriptor;
    return {
      Columns: columns.map((column) => ({ Name: column.name, Type: column.type })),
      Location: location,
    };
  }
}

const notFound = (): Error =>
  Object.assign(new Error("not found"), {
    name: "EntityNotFoundException",
    $metadata: { httpStatusCode: 400 },
  });
