// What may be changed in a source file: one small change at a time, which a test should notice.

import { parseAst } from "vitest/node";

export interface Mutation {
  /** Below the root, with slashes. */
  readonly file: string;
  readonly line: number;
  /** What is replaced: offsets in the text of the file. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** No function is around it: it happens when the file is loaded. */
  readonly isOnLoad: boolean;
  /** The function around it, the lines before, and the lines after: what a list of mutations knows it by. */
  readonly text: string;
}

/** Of the syntax tree of TypeScript, as the parser of the tests gives it. */
export interface Node {
  readonly type: string;
  /** Offset in the source. */
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Place {
  /** The function or the constant of the file around it; empty outside any. */
  readonly name: string;
  readonly isOnLoad: boolean;
  readonly parent: Node | undefined;
}

/** The text in place of a node. */
type Change = readonly [node: Node, replacement: string];

const BOUNDARIES: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">" };
const EQUALITIES: Readonly<Record<string, string>> = { "===": "!==", "!==": "===" };

const NEGATING: ReadonlySet<string> = new Set([
  "LogicalExpression",
  "ReturnStatement",
  "ArrowFunctionExpression",
]);

/** Of the types of TypeScript nothing runs; these have an expression inside. */
const WITH_EXPRESSION: ReadonlySet<string> = new Set([
  "TSAsExpression",
  "TSSatisfiesExpression",
  "TSNonNullExpression",
]);

/** What is only said in a log decides nothing. */
const LOGS = /(?:^|[.#])logger\.(?:debug|info|warn|error)$/;

const LONGEST_TEXT = 200;

/** In the order of the file. */
export function mutationsOf(file: string, source: string): readonly Mutation[] {
  const found: Mutation[] = [];
  const visit = (node: Node, place: Place): void => {
    if (isSkipped(node, source)) return;
    for (const [{ start, end }, replacement] of changesOf(node, place, source)) {
      const line = source.slice(0, start).split("\n").length;
      const text = `${place.name || "on load"}: ${changeText(source, start, end, replacement)}`;
      found.push({ file, line, start, end, replacement, isOnLoad: place.isOnLoad, text });
    }
    const inside = placeInside(node, place);
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(parse(source), { name: "", isOnLoad: true, parent: undefined });
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * The source with all its mutations, each of which waits until `globalThis.isMutant` says yes to its number; in a process
 * that a test starts no number gets one. Throws where that is no program: then the rules here are wrong.
 */
export function withMutations(source: string, mutations: ReadonlyMap<number, Mutation>): string {
  const outerFirst = [...mutations].toSorted(([, a], [, b]) => a.start - b.start || b.end - a.end);
  const spans = [...Map.groupBy(outerFirst, ([, { start, end }]) => `${start}-${end}`).values()];
  const rewrite = (from: number, to: number, inside: readonly (typeof spans)[number][]): string => {
    let text = "";
    let at = from;
    inside.forEach((span, index) => {
      const [[, { start, end }] = [0, { start: to, end: to }]] = span;
      if (start < at) return;
      const nested = inside.slice(index + 1).filter(([[, inner] = [0, { start: end }]]) => inner.start < end);
      text += source.slice(at, start) + choice(span, rewrite(start, end, nested));
      at = end;
    });
    return text + source.slice(at, to);
  };
  const mutated = rewrite(0, source.length, spans);
  parse(mutated);
  return mutated;
}

/** What is there, or one of the changes of it. */
function choice(span: readonly (readonly [number, Mutation])[], original: string): string {
  return span.reduceRight(
    (otherwise, [id, { replacement }]) =>
      replacement === ";"
        ? `{ if (globalThis.isMutant?.(${id})); else ${otherwise} }`
        : `(globalThis.isMutant?.(${id}) ? ${replacement} : ${otherwise})`,
    original,
  );
}

function changesOf(node: Node, { parent }: Place, source: string): readonly Change[] {
  const textOf = ({ start, end }: Node): string => source.slice(start, end);
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
    case "WhileStatement":
    case "ForStatement": {
      const test = node["test"];
      return isNode(test) && !isBooleanLiteral(test) ? [[test, `!(${textOf(test)})`]] : [];
    }
    case "BinaryExpression":
      return comparisonChanges(node, parent, source);
    case "LogicalExpression": {
      const [left, right, operator] = [child(node, "left"), child(node, "right"), node["operator"]];
      if (operator === "??") return [];
      const withoutRight: Change = [node, `(${textOf(left)})`];
      // Of a longer chain each operand is left out alone.
      return left["operator"] === operator ? [withoutRight] : [withoutRight, [node, `(${textOf(right)})`]];
    }
    case "Literal":
      return isBooleanLiteral(node) ? [[node, String(!node["value"])]] : [];
    case "ThrowStatement":
    case "BreakStatement":
    case "ContinueStatement":
      return [[node, ";"]];
    case "ExpressionStatement": {
      const expression = child(node, "expression");
      if (typeof node["directive"] === "string" || child(expression, "callee").type === "Super") return [];
      return [[node, ";"], ...withoutAwait(expression, textOf)];
    }
    case "ReturnStatement": {
      const value = node["argument"];
      return isNode(value) ? [...withoutAwait(value, textOf), ...constants(value)] : [[node, ";"]];
    }
    case "ArrowFunctionExpression":
      return constants(child(node, "body"));
    default:
      return [];
  }
}

/** Where a comparison is a condition, an operand or a result, other changes negate it. */
function comparisonChanges(node: Node, parent: Node | undefined, source: string): readonly Change[] {
  const operator = String(node["operator"]);
  const isNegatedElsewhere = parent?.["test"] === node || NEGATING.has(parent?.type ?? "");
  const other = BOUNDARIES[operator] ?? (isNegatedElsewhere ? undefined : EQUALITIES[operator]);
  if (other === undefined) return [];
  const [start, end] = [child(node, "left").end, child(node, "right").start];
  const between = source.slice(start, end).replace(operator, other);
  return [[node, source.slice(node.start, start) + between + source.slice(end, node.end)]];
}

function withoutAwait(node: Node, textOf: (node: Node) => string): readonly Change[] {
  return node.type === "AwaitExpression" ? [[node, textOf(child(node, "argument"))]] : [];
}

/** What a function may return instead. */
function constants(value: Node): readonly Change[] {
  if (value.type === "BlockStatement" || isBooleanLiteral(value) || value["name"] === "undefined") return [];
  if (!isBoolean(value)) return [[value, "undefined"]];
  return [
    [value, "true"],
    [value, "false"],
  ];
}

function isBoolean({ type, operator, ...node }: Node): boolean {
  if (type === "BinaryExpression") return /^[<>=!]|^in/.test(String(operator));
  if (type !== "LogicalExpression" || operator === "??") return operator === "!";
  return [node["left"], node["right"]].some((operand) => isNode(operand) && isBoolean(operand));
}

function isSkipped(node: Node, source: string): boolean {
  if (node.type.startsWith("TS")) return !WITH_EXPRESSION.has(node.type);
  const { start, end } = child(
    node.type === "ExpressionStatement" ? child(node, "expression") : node,
    "callee",
  );
  return LOGS.test(source.slice(start, end));
}

/** The first and the last line of a change, as they are and as they become. */
function changeText(source: string, start: number, end: number, replacement: string): string {
  const from = source.lastIndexOf("\n", start) + 1;
  const to = (source.indexOf("\n", end) + source.length) % source.length;
  const shown = (text: string): string => {
    const line = text.replaceAll(/\s+/g, " ").trim();
    return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)}…` : line;
  };
  const before = shown(source.slice(from, to));
  if (replacement === ";") return `${before} → dropped`;
  return `${before} → ${shown(source.slice(from, start) + replacement + source.slice(end, to))}`;
}

function placeInside(node: Node, place: Place): Place {
  const isFunction = node.type.includes("Function");
  const isConstant = node.type === "VariableDeclarator" && place.isOnLoad;
  const named =
    node.type === "MethodDefinition" ? node["key"] : isFunction || isConstant ? node["id"] : undefined;
  const name = isNode(named) && typeof named["name"] === "string" ? named["name"] : place.name;
  return { name, isOnLoad: place.isOnLoad && !isFunction, parent: node };
}

function isBooleanLiteral({ value }: Node): boolean {
  return typeof value === "boolean";
}

/** Throws where the source is no program. */
export function parse(source: string): Node {
  return parseAst(source, { lang: "ts" }) as unknown as Node;
}

export function childrenOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Empty where there is none. */
function child(node: Node, key: string): Node {
  const value = node[key];
  return isNode(value) ? value : { type: "", start: 0, end: 0 };
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
