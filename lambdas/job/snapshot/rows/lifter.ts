// Takes the lifted columns' values out of an event's text, as they are written there.

import { columnText } from "../../json/column-text.ts";
import { parsePointer } from "../../json/json-pointer.ts";
import { members, type Span, valueAt } from "../../json/json-scanner.ts";
import type { LiftedColumn } from "./lifted-column.ts";

/** By column, in the columns' order. */
export type LiftedTexts = Readonly<Record<string, string | null>>;

/** The common beginnings of the pointers are walked once. */
interface Branch {
  readonly children: Map<string, Branch>;
  /** The columns whose pointer ends here. */
  readonly names: string[];
}

/** For texts that are known to be JSON without white space around it, as the column `event` holds them. */
export function lifter(columns: readonly LiftedColumn[]): (event: string) => LiftedTexts {
  const root = newBranch();
  for (const { name, pointer } of columns) branchAt(root, parsePointer(pointer)).names.push(name);
  return (event) => {
    const spans = new Map<string, Span>();
    find(event, { start: 0, end: event.length }, root, spans);
    // Made of entries, because assigning to `__proto__` would set no column.
    return Object.fromEntries(columns.map(({ name }) => [name, columnText(event, spans.get(name))]));
  };
}

function newBranch(): Branch {
  return { children: new Map(), names: [] };
}

function branchAt(root: Branch, tokens: readonly string[]): Branch {
  let branch = root;
  for (const token of tokens) {
    const child = branch.children.get(token) ?? newBranch();
    branch.children.set(token, child);
    branch = child;
  }
  return branch;
}

// Recurses no deeper than the longest pointer.
function find(event: string, span: Span, branch: Branch, spans: Map<string, Span>): void {
  for (const name of branch.names) spans.set(name, span);
  if (branch.children.size === 0) return;
  const found = new Map<Branch, Span>(); // of duplicate keys the last one counts
  if (event[span.start] === "{") {
    for (const { key, value } of members(event, span)) {
      const child = branch.children.get(key);
      if (child) found.set(child, value);
    }
  } else {
    for (const [token, child] of branch.children) {
      const value = valueAt(event, [token], span);
      if (value) found.set(child, value);
    }
  }
  for (const [child, value] of found) find(event, value, child, spans);
}
