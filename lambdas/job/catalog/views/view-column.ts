// A column of a view, as both engines have it.

import type { ColumnType } from "../../snapshot/rows/column-type.ts";

export interface ViewColumn {
  readonly name: string;
  readonly type: ColumnType | "INTEGER";
}
