// The partitions of Glue's tables, with their history: a reading may show an older state.

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

  listed(table: string, account: string, share: number): readonly GluePartition[] {
    const found: GluePartition[] = [];
    for (const [key, versions] of this.#history) {
      if (!key.startsWith(`${table}/`)) continue;
      const partition = this.#at(versions, share);
      if (partition?.values[0] === account) found.push(partition);
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
