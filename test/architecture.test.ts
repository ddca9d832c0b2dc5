// The tree is what docs/architecture.md says: which room may import which, and what a file looks like.

import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const MOST_LINES = 350;

/** Where a process starts: only these read its environment. */
const ENTRY_POINTS: ReadonlySet<string> = new Set([
  "bin/app.ts",
  "bin/build.ts",
  "bin/demo.ts",
  "bin/sync.ts",
  "lambdas/sync/handler.ts",
]);

interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly string[];
  /** The imports that are there when the program runs, and not only while types are checked. */
  readonly values: readonly string[];
}

const rooms = readRooms();
const files = readSources();

test("every room is a folder, and every file is in a room", () => {
  const empty = [...rooms.keys()].filter((room) => !files.some(({ path }) => path.startsWith(`${room}/`)));

  expect(empty).toEqual([]);
  expect(paths(({ path }) => roomOf(path) === undefined)).toEqual([]);
});

test("a room imports only what the list of rooms allows", () => {
  const forbidden = files.flatMap(({ path, imports }) =>
    imports.filter((target) => !mayImport(roomOf(path), target)).map((target) => `${path} → ${target}`),
  );

  expect(forbidden).toEqual([]);
});

test("the list of rooms has no circle", () => {
  const names = [...rooms.keys()];

  const found = circles(names, (room) =>
    names.filter((other) => other !== room && mayImport(room, `${other}/any.ts`)),
  );

  expect(found).toEqual([]);
});

test("no file imports itself, directly or through others", () => {
  const imports = new Map(files.map((file) => [file.path, file.imports]));

  expect(circles([...imports.keys()], (path) => imports.get(path) ?? [])).toEqual([]);
});

test("no folder imports from one that imports from it, but types", () => {
  const running = files.filter(({ path }) => /^(?:bin|lambdas)\//.test(path));
  const folders = Map.groupBy(running, ({ path }) => dirname(path));

  const found = circles([...folders.keys()], (folder) =>
    (folders.get(folder) ?? [])
      .flatMap(({ values }) => values.map((target) => dirname(target)))
      .filter((other) => other !== folder),
  );

  expect(found).toEqual([]);
});

test("only the demonstration imports from test", () => {
  expect(paths(({ imports }) => imports.some((target) => target.startsWith("test/")))).toEqual([
    "bin/demo.ts",
  ]);
});

test(`a file has at most ${MOST_LINES} lines`, () => {
  expect(paths(({ text }) => text.trimEnd().split("\n").length > MOST_LINES)).toEqual([]);
});

test("a file exports only its own declarations", () => {
  expect(paths(({ text }) => /^export (?:type )?(?:\*|\{|default\b)/m.test(text))).toEqual([]);
});

test("only entry points read the environment", () => {
  expect(paths(({ path, text }) => /\bprocess\.env\b/.test(text) && !ENTRY_POINTS.has(path))).toEqual([]);
});

test("time and randomness come in from outside", () => {
  const ambient =
    /\b(?:Math\.random|Date\.now|performance\.now|process\.hrtime|randomUUID|randomBytes)\b|\bnew Date\(\)/;

  const users = paths(
    ({ path, text }) =>
      ambient.test(text) && !path.startsWith("lambdas/job/runtime/") && !ENTRY_POINTS.has(path),
  );

  expect(users).toEqual([]);
});

function paths(isWanted: (file: SourceFile) => boolean): readonly string[] {
  return files.filter(isWanted).map(({ path }) => path);
}

function readSources(): readonly SourceFile[] {
  const found = globSync("{bin,lib,lambdas}/**/*.ts", { cwd: ROOT }).map(withSlashes).toSorted();
  return found.map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const values = text.replaceAll(/^import (?:type \{|\{(?:\s*type \w+,?)+\s*\})[^;]*;$/gm, "");
    return { path, text, imports: importsIn(text, path), values: importsIn(values, path) };
  });
}

function importsIn(text: string, path: string): readonly string[] {
  const targets = [...text.matchAll(/\b(?:from|import|import\()\s*"(\.[^"]+\.ts)"/g)];
  return targets.map(([, target = ""]) => withSlashes(relative(ROOT, join(ROOT, dirname(path), target))));
}

/** The list below "The rooms": a room, and in brackets what it may import beside itself. */
function readRooms(): ReadonlyMap<string, readonly string[]> {
  const [, section = ""] = readFileSync(join(ROOT, "docs/architecture.md"), "utf8").split("\n## The rooms\n");
  const items = [...section.matchAll(/^- `([\w/-]+)` \((.*?)\): /gm)];
  const named = items.map(
    ([, room = "", allowed = ""]) =>
      [room, [...allowed.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name)] as const,
  );
  return new Map(named.filter(([room]) => room !== "test"));
}

/** The innermost room of a file. */
function roomOf(path: string): string | undefined {
  const around = [...rooms.keys()].filter((room) => path.startsWith(`${room}/`));
  return around.toSorted((a, b) => b.length - a.length)[0];
}

/** A name in the list is a path from the root, or a neighbour's name. */
function mayImport(room: string | undefined, target: string): boolean {
  if (room === undefined || roomOf(target) === room) return true;
  const allowed = (rooms.get(room) ?? []).flatMap((name) => [name, `${dirname(room)}/${name}`]);
  return allowed.some((path) => target === path || target.startsWith(`${path}/`));
}

function circles(nodes: readonly string[], next: (node: string) => readonly string[]): readonly string[] {
  const visited = new Set<string>();
  const found: string[] = [];
  const visit = (node: string, way: readonly string[]): void => {
    if (way.includes(node)) found.push([...way.slice(way.indexOf(node)), node].join(" → "));
    if (visited.has(node)) return;
    visited.add(node);
    for (const target of next(node)) visit(target, [...way, node]);
  };
  for (const node of nodes) visit(node, []);
  return found;
}

function withSlashes(path: string): string {
  return path.split(sep).join("/");
}
