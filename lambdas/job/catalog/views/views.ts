// The views over the tables: what they are called, and which tables they read.

import type { TableName } from "../../storage/layout.ts";

export const VIEWS = {
  events_typed: ["events"],
  event_history: ["event_changes", "publications"],
} as const satisfies Record<string, readonly TableName[]>;

export type ViewName = keyof typeof VIEWS;

/** The statement that makes the view, in either dialect. */
export function createView(name: ViewName, query: string): string {
  return `CREATE OR REPLACE VIEW ${name} AS ${query};\n`;
}

/** The tables behind these names, in lower case: a table stands for itself, and others for nothing. */
export function tablesBehind(names: ReadonlySet<string>): ReadonlySet<string> {
  const behind = Object.entries(VIEWS).flatMap(([view, tables]) => (names.has(view) ? tables : []));
  return new Set([...names, ...behind]);
}
