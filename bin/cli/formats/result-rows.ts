// The result of a query as it arrives: the names of its columns, then batches of rows, every value as text or null.

export type Row = readonly (string | null)[];

export interface ResultRows {
  readonly columns: readonly string[];
  /** Can be read once. */
  readonly batches: AsyncIterable<readonly Row[]>;
}

/** All rows, where they are needed at once. */
export async function collect({ columns, batches }: ResultRows): Promise<{
  readonly columns: readonly string[];
  readonly rows: readonly Row[];
}> {
  const rows: Row[] = [];
  for await (const batch of batches) for (const row of batch) rows.push(row);
  return { columns, rows };
}
