// The syntax tree of TypeScript source, as the parser of the tests gives it.

import { parseAst } from "vitest/node";

export interface Node {
  readonly type: string;
  /** Offset in the source. */
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** Throws where the source is no program. */
export function parse(source: string): Node {
  return parseAst(source, { lang: "ts" }) as unknown as Node;
}

export function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Empty where there is none. */
export function child(node: Node, key: string): Node {
  const value = node[key];
  return isNode(value) ? value : { type: "", start: 0, end: 0 };
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
