// Glue as one process sees it: every command answered by the tables of the world.

import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import type { Endpoint } from "./aws-clients.ts";
import { AwsFailure, members } from "./aws-failure.ts";
import type { GluePartition, GlueTables } from "./glue-tables.ts";

/** `GlueCatalog` runs unchanged on it. `lag` draws how old a state a reading shows, from 0 to 1. */
export function glueEndpoint(tables: GlueTables, process: SimProcess, lag: () => number): Endpoint {
  return (command, given) => {
    const what = `${command} ${String(given["TableName"] ?? given["Name"])}`;
    const effect = (): object => respond(tables, process.name, command, given, lag());
    return process.call("catalog", what, effect, FAILURES, command.startsWith("Get"));
  };
}

type Given = Readonly<Record<string, unknown>>;

function respond(tables: GlueTables, by: string, command: string, given: Given, share: number): object {
  const table = String(given["TableName"]);
  switch (command) {
    case "GetTable":
      return { Table: { StorageDescriptor: { Columns: columnsOf(String(given["Name"])) } } };
    case "GetPartition": {
      const found = tables.seen(table, texts(given["PartitionValues"]), share);
      if (found === undefined) throw new AwsFailure("EntityNotFoundException", 400);
      return { Partition: outputOf(found) };
    }
    case "GetPartitions": {
      const account = /'([\w-]+)'/.exec(String(given["Expression"]))?.[1] ?? "";
      return { Partitions: tables.listed(table, account, share).map(outputOf) };
    }
    case "BatchCreatePartition":
      return { Errors: listOf(given["PartitionInputList"]).flatMap((one) => create(tables, by, table, one)) };
    case "UpdatePartition": {
      const partition = inputOf(given["PartitionInput"]);
      if (tables.current(table, partition.values) === undefined)
        throw new AwsFailure("EntityNotFoundException", 400);
      tables.put(table, partition, by);
      return {};
    }
    case "BatchDeletePartition":
      return { Errors: listOf(given["PartitionsToDelete"]).flatMap((one) => remove(tables, table, one)) };
    default:
      throw new Error(`the simulated Glue does not know ${command}`);
  }
}

function create(tables: GlueTables, by: string, table: string, input: unknown): readonly object[] {
  const partition = inputOf(input);
  if (tables.current(table, partition.values) !== undefined)
    return [entryError(partition.values, "AlreadyExistsException")];
  tables.put(table, partition, by);
  return [];
}

function remove(tables: GlueTables, table: string, input: unknown): readonly object[] {
  const values = texts(members(input)["Values"]);
  if (tables.current(table, values) === undefined) return [entryError(values, "EntityNotFoundException")];
  tables.remove(table, values);
  return [];
}

function entryError(PartitionValues: readonly string[], ErrorCode: string): object {
  return { PartitionValues, ErrorDetail: { ErrorCode, ErrorMessage: "simulated" } };
}

function inputOf(input: unknown): GluePartition {
  const { Values, StorageDescriptor, Parameters } = members(input);
  const { Location, Columns } = members(StorageDescriptor);
  const parameters = Object.fromEntries(
    Object.entries(members(Parameters)).map(([name, value]) => [name, String(value)]),
  );
  return { values: texts(Values), location: String(Location), parameters, columns: Columns };
}

function outputOf({ values, location, parameters, columns }: GluePartition): object {
  return {
    Values: [...values],
    StorageDescriptor: { Location: location, Columns: columns },
    Parameters: parameters,
  };
}

function columnsOf(table: string): readonly object[] {
  const found = Object.entries(TABLES).find(([name]) => name === table);
  return (found?.[1].columns ?? []).map(({ name, type }) => ({ Name: name, Type: type }));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown): readonly string[] => listOf(value).map(String);

const FAILURES: CallFailures = {
  refused: () => new AwsFailure("ThrottlingException", 400),
  lost: () => new AwsFailure("TimeoutError", undefined),
};
