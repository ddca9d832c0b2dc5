// Glue as a world has it: the partitions of the tables with their history, because a reading may show an older state; and
// what each process sees of them.

import { TABLES } from "../../../lambdas/job/storage/layout.ts";
import type { CallFailures, SimProcess } from "../process/sim-process.ts";
import { AwsFailure, type Endpoint, members } from "./aws-clients.ts";

export interface GluePartition {
  readonly values: readonly string[];
  readonly location: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly columns: unknown;
}

interface Version {
  readonly fromMs: number;
  readonly partition: GluePartition | undefined;
}

export interface PartitionObserver {
  /** @param by the process that put it there */
  onPartition(table: string, partition: GluePartition, by: string): void;
  onPartitionRemoved(table: string, values: readonly string[]): void;
}

export class GlueTables {
  readonly #history = new Map<string, Version[]>();
  readonly #now: () => number;
  readonly #lagMs: number;
  readonly #observer: PartitionObserver;

  constructor(now: () => number, lagMs: number, observer: PartitionObserver) {
    this.#now = now;
    this.#lagMs = lagMs;
    this.#observer = observer;
  }

  /** As it is. Writes see nothing older. */
  current(table: string, values: readonly string[]): GluePartition | undefined {
    return this.#history.get(keyOf(table, values))?.at(-1)?.partition;
  }

  /** As a reading shows it, `share` of the lag ago. */
  seen(table: string, values: readonly string[], share: number): GluePartition | undefined {
    return this.#at(this.#history.get(keyOf(table, values)) ?? [], share);
  }

  /** @param account undefined for those of all accounts */
  listed(table: string, account: string | undefined, share: number): readonly GluePartition[] {
    const found: GluePartition[] = [];
    for (const [key, versions] of this.#history) {
      if (!key.startsWith(`${table}/`)) continue;
      const partition = this.#at(versions, share);
      if (partition && (account ?? partition.values[0]) === partition.values[0]) found.push(partition);
    }
    return found;
  }

  put(table: string, partition: GluePartition, by: string): void {
    this.#write(table, partition.values, partition);
    this.#observer.onPartition(table, partition, by);
  }

  remove(table: string, values: readonly string[]): void {
    this.#write(table, values, undefined);
    this.#observer.onPartitionRemoved(table, values);
  }

  #write(table: string, values: readonly string[], partition: GluePartition | undefined): void {
    const key = keyOf(table, values);
    const versions = this.#history.get(key) ?? [];
    versions.push({ fromMs: this.#now(), partition });
    this.#history.set(key, versions);
  }

  #at(versions: readonly Version[], share: number): GluePartition | undefined {
    const atMs = this.#now() - share * this.#lagMs;
    return versions.findLast(({ fromMs }) => fromMs <= atMs)?.partition;
  }
}

const keyOf = (table: string, values: readonly string[]): string => `${table}/${values.join("/")}`;

/** `GlueCatalog` runs unchanged on it. `lag` draws how old a state a reading shows, from 0 to 1. */
export function glueEndpoint(tables: GlueTables, process: SimProcess, lag: () => number): Endpoint {
  return (command, given) => {
    const what = `${command} ${String(given["TableName"] ?? given["Name"])}`;
    const effect = (): object => respond(tables, process.name, command, given, lag());
    return process.call("catalog", what, effect, FAILURES, command.startsWith("Get"));
  };
}

type Given = Readonly<Record<string, unknown>>;

export function respond(
  tables: GlueTables,
  by: string,
  command: string,
  given: Given,
  share: number,
): object {
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
      return {
        Errors: atMost(100, given["PartitionInputList"]).flatMap((one) => create(tables, by, table, one)),
      };
    case "UpdatePartition": {
      const partition = inputOf(given["PartitionInput"]);
      if (tables.current(table, partition.values) === undefined)
        throw new AwsFailure("EntityNotFoundException", 400);
      tables.put(table, partition, by);
      return {};
    }
    case "BatchDeletePartition":
      return { Errors: atMost(25, given["PartitionsToDelete"]).flatMap((one) => remove(tables, table, one)) };
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
function atMost(most: number, value: unknown): readonly unknown[] {
  const list = listOf(value);
  if (list.length > most) throw new AwsFailure("ValidationException", 400);
  return list;
}
const texts = (value: unknown): readonly string[] => listOf(value).map(String);

const FAILURES: CallFailures = {
  refused: () => new AwsFailure("ThrottlingException", 400),
  lost: () => new AwsFailure("TimeoutError", undefined),
};
