// The texts in TypeScript source that a person may read: messages, help, titles.

import { childrenOf, type Node, parse } from "../../mutate/mutations.ts";

export interface Text {
  /** From 1. */
  readonly line: number;
  /** On one line; what is filled in stands as its source in `${…}`. */
  readonly text: string;
}

/** Two words, of which the second begins in lower case; what is filled in counts as one. */
const WORDS = /[\p{L}}][,:;]? \p{Ll}/u;

/** In the order of the source; a text that is put together of several is one. Throws where the source is no program. */
export function textsOf(source: string): readonly Text[] {
  const found: Text[] = [];
  const visit = (node: Node): void => {
    if (node.type.startsWith("TS") && node.type !== "TSAsExpression" && node.type !== "TSSatisfiesExpression")
      return;
    const text = textOf(node, source);
    if (text === undefined) {
      childrenOf(node).forEach(visit);
      return;
    }
    const line = source.slice(0, node.start).split("\n").length;
    if (WORDS.test(text)) found.push({ line, text: text.replaceAll(/\s+/g, " ") });
  };
  visit(parse(source));
  return found;
}

/** Undefined where the node is no text. */
function textOf(node: Node, source: string): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type === "TemplateLiteral")
    return source.slice(node.start + 1, node.end - 1).replaceAll("\\`", "`");
  if (node.type !== "BinaryExpression" || node["operator"] !== "+") return undefined;
  const parts = childrenOf(node).map((part) => [part, textOf(part, source)] as const);
  if (parts.every(([, text]) => text === undefined)) return undefined;
  return parts.map(([part, text]) => text ?? `\${${source.slice(part.start, part.end)}}`).join("");
}
