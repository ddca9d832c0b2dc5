// One database of Glue, in the few calls that a catalog needs.

import {
  BatchCreatePartitionCommand,
  BatchDeletePartitionCommand,
  GetPartitionCommand,
  GetTableCommand,
  type GlueClient,
  type PartitionError,
  type PartitionInput,
  paginateGetPartitions,
  type Partition as SdkPartition,
  type StorageDescriptor,
  UpdatePartitionCommand,
} from "@aws-sdk/client-glue";
import { awsError, commonRemedy, shortCause } from "../../errors/aws-error.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import { batches } from "../../storage/batches.ts";
import type { TableName } from "../../storage/layout.ts";

type Columns = readonly { readonly name: string; readonly type: string }[];

export interface Partition {
  readonly values: readonly string[];
  readonly location: string;
  readonly parameters?: Readonly<Record<string, string>>;
}

/** A partition as Glue has it. A list of partitions comes without their columns. */
interface FoundPartition extends Partition {
  readonly columns: Columns;
}

/** Limits of the API. */
const CREATED_AT_ONCE = 100;
const DELETED_AT_ONCE = 25;

/** Another writer was at work, or Glue took too long: over within seconds, and the client repeats neither. */
const PASSING = new Set(["ConcurrentModificationException", "OperationTimeoutException"]);
/** Before each repetition. Every call may be repeated: what its first request did is what it asks for. */
const PAUSES_MS = [500, 1_000, 2_000];

export interface GlueDatabaseOptions {
  readonly client: GlueClient;
  readonly database: string;
  readonly clock: Pick<Clock, "sleep">;
}

/** Every method throws `CATALOG_FAILED`. Repeats only what is over within seconds. */
export class GlueDatabase {
  readonly #client: GlueClient;
  readonly #database: string;
  readonly #clock: Pick<Clock, "sleep">;

  constructor({ client, database, clock }: GlueDatabaseOptions) {
    this.#client = client;
    this.#database = database;
    this.#clock = clock;
  }

  /** The table's columns, without its partition columns. */
  async columns(table: TableName): Promise<Columns> {
    return columnsOf(await this.#storage(table));
  }

  async #storage(table: TableName): Promise<StorageDescriptor> {
    const request = { DatabaseName: this.#database, Name: table };
    const found = await this.#call("GetTable", table, () => this.#client.send(new GetTableCommand(request)));
    return found.Table?.StorageDescriptor ?? {};
  }

  /** The partition, or undefined where the table has none of these values. */
  async find(table: TableName, values: readonly string[]): Promise<FoundPartition | undefined> {
    const request = { ...this.#in(table), PartitionValues: [...values] };
    return this.#call("GetPartition", table, async () => {
      try {
        const { Partition } = await this.#client.send(new GetPartitionCommand(request));
        if (Partition === undefined) return undefined;
        return { ...plainPartition(Partition), columns: columnsOf(Partition.StorageDescriptor) };
      } catch (error) {
        // Glue says the same of a missing table, which `put` finds out.
        if (awsError(error)?.name === "EntityNotFoundException") return undefined;
        throw error;
      }
    });
  }

  /** The account's partitions, in no order. */
  async list(table: TableName, account: string): Promise<readonly Partition[]> {
    const request = {
      ...this.#in(table),
      Expression: `account = '${account}'`,
      ExcludeColumnSchema: true,
    };
    return this.#call("GetPartitions", table, async () => {
      const found: Partition[] = [];
      for await (const { Partitions = [] } of paginateGetPartitions({ client: this.#client }, request)) {
        found.push(...Partitions.map(plainPartition));
      }
      return found;
    });
  }

  /** Makes the partitions, in order, with what the table says of its files; one that exists already is replaced as a whole. */
  async put(table: TableName, partitions: readonly Partition[]): Promise<void> {
    const storage = partitions.length === 0 ? {} : await this.#storage(table);
    for (const batch of batches(partitions, CREATED_AT_ONCE)) {
      const inputs = batch.map((partition) => partitionInput(partition, storage));
      const request = { ...this.#in(table), PartitionInputList: inputs };
      const there = await this.#call("BatchCreatePartition", table, async () => {
        const { Errors } = await this.#client.send(new BatchCreatePartitionCommand(request));
        return onlyWith("AlreadyExistsException", Errors);
      });
      const taken = new Set(there.map(({ PartitionValues = [] }) => PartitionValues.join("/")));
      for (const input of inputs) {
        if (taken.has((input.Values ?? []).join("/"))) await this.#replace(table, input);
      }
    }
  }

  /** Deletes partitions; the files stay. A partition that does not exist is no error. */
  async remove(table: TableName, partitions: readonly (readonly string[])[]): Promise<void> {
    for (const batch of batches(partitions, DELETED_AT_ONCE)) {
      const PartitionsToDelete = batch.map((values) => ({ Values: [...values] }));
      const request = { ...this.#in(table), PartitionsToDelete };
      await this.#call("BatchDeletePartition", table, async () => {
        const { Errors } = await this.#client.send(new BatchDeletePartitionCommand(request));
        return onlyWith("EntityNotFoundException", Errors);
      });
    }
  }

  /** One call for location, columns and parameters together: a reader never sees half of a change. */
  async #replace(table: TableName, input: PartitionInput): Promise<void> {
    const request = { ...this.#in(table), PartitionValueList: input.Values ?? [], PartitionInput: input };
    await this.#call("UpdatePartition", table, () => this.#client.send(new UpdatePartitionCommand(request)));
  }

  async #call<T>(action: string, table: TableName, work: () => Promise<T>): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const pauseMs = PASSING.has(awsError(error)?.name ?? "") ? PAUSES_MS[tries] : undefined;
        if (pauseMs === undefined) throw glueError(error, { action, database: this.#database, table });
        await this.#clock.sleep(pauseMs);
      }
    }
  }

  #in(table: TableName): { readonly DatabaseName: string; readonly TableName: string } {
    return { DatabaseName: this.#database, TableName: table };
  }
}

/**
 * The entries of a batch that failed, all with the accepted code. Throws the first other one as if the whole call had
 * failed with it.
 */
function onlyWith(accepted: string, errors: readonly PartitionError[] = []): readonly PartitionError[] {
  const failed = errors.find(({ ErrorDetail }) => ErrorDetail?.ErrorCode !== accepted);
  if (failed === undefined) return errors;
  const { ErrorCode: name = "unknown error", ErrorMessage = "nothing" } = failed.ErrorDetail ?? {};
  throw Object.assign(new Error(ErrorMessage), { name, $metadata: { httpStatusCode: 400 } });
}

function partitionInput(
  { values, location, parameters }: Partition,
  storage: StorageDescriptor,
): PartitionInput {
  return {
    Values: [...values],
    StorageDescriptor: { ...storage, Location: location },
    ...(parameters === undefined ? {} : { Parameters: { ...parameters } }),
  };
}

function plainPartition({ Values = [], StorageDescriptor, Parameters = {} }: SdkPartition): Partition {
  return { values: Values, location: StorageDescriptor?.Location ?? "", parameters: Parameters };
}

function columnsOf({ Columns = [] }: StorageDescriptor = {}): Columns {
  return Columns.map(({ Name = "", Type = "" }) => ({ name: Name, type: Type }));
}

/** A request to Glue: the API's name of the action, and the table. */
interface GlueCall {
  readonly action: string;
  readonly database: string;
  readonly table: string;
}

const ACCESS_DENIED = "AccessDeniedException";
/** Glue cannot read or write the metadata of an encrypted catalog, mostly because a permission on its key is missing. */
const ENCRYPTION_FAILED = "GlueEncryptionException";

/** `CATALOG_FAILED` with why and what to do. An error that no request to AWS caused is returned as it is. */
function glueError(error: unknown, call: GlueCall): unknown {
  const failure = awsError(error);
  if (failure === undefined) return error;
  const { name, message } = failure;
  const meaning = meaningOf(name, message, call) ?? commonRemedy(failure) ?? `AWS says: ${message}`;
  const { action, database, table } = call;
  return new SyncError(
    "CATALOG_FAILED",
    `What is published is safe, but readers may not see it yet: Glue's ${action} on ${database}.${table} failed: ${meaning} (${name})`,
    { fields: { action, database, table, aws_error: name }, cause: shortCause(failure) },
  );
}

function meaningOf(name: string, message: string, { action, database, table }: GlueCall): string | undefined {
  const [kmsAction] = /kms:\w+/.exec(message) ?? [];
  if (name === ENCRYPTION_FAILED || (name === ACCESS_DENIED && kmsAction)) {
    return `the catalog is encrypted with a key of KMS that this process may not use. Give it ${kmsAction ?? "kms:Decrypt and kms:GenerateDataKey"} on that key, in its own policy and in the key's. AWS says: ${message}`;
  }
  switch (name) {
    case "EntityNotFoundException":
      return `the database ${database} or its table ${table} does not exist. Deploy the stack, or name the right database.`;
    case ACCESS_DENIED:
      return `AWS refuses it. Give this process glue:${action} on the catalog, the database and the table; where Lake Formation governs the database, grant it there too: DESCRIBE, ALTER, INSERT and DELETE on the table, and the data location. AWS says: ${message}`;
    default:
      return undefined;
  }
}
