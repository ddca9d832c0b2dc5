// What `npm run build` makes: the same bytes in every folder, and lists of what is in them.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { buildConstruct, buildProgram } from "../../bin/build-program.ts";
import packageLock from "../../package-lock.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "../..");
const SOURCES = [
  "bin",
  "lib",
  "lambdas",
  "brand-events.schema.json",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
];
/** What every command loads. */
const MAX_LOADED_BYTES = 2_000_000;

const billSchema = z.object({
  bomFormat: z.literal("CycloneDX"),
  components: z.array(z.object({ purl: z.string(), hashes: z.tuple([z.object({ content: z.string() })]) })),
});

let folder: string;
let program: Metafile;
let construct: Metafile;
let ofFunction: Metafile;
/** Text by path: what a copy of the project builds. */
let built: ReadonlyMap<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-events-built-"));
  program = buildProgram(join(folder, "dist"));
  const [first, second] = await buildConstruct(join(folder, "dist/cdk"));
  if (first === undefined || second === undefined) throw new Error("EventSync was not built");
  [construct, ofFunction] = [first, second];
  built = await buildCopy(join(folder, "copy"));
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

/** Builds a copy of the project, with copies of the packages that a build reads. */
async function buildCopy(root: string): Promise<ReadonlyMap<string, string>> {
  await mkdir(join(root, "node_modules"), { recursive: true });
  for (const name of SOURCES) await cp(join(ROOT, name), join(root, name), { recursive: true });
  const inputs = [program, construct, ofFunction].flatMap((one) => Object.keys(one.inputs));
  const read = new Set(inputs.map((path) => /^node_modules\/([^/]+)/.exec(path)?.[1]));
  for (const name of await readdir(join(ROOT, "node_modules"))) {
    const [from, to] = [join(ROOT, "node_modules", name), join(root, "node_modules", name)];
    await (read.has(name) ? cp(from, to, { recursive: true }) : symlink(from, to));
  }
  await promisify(execFile)(process.execPath, ["bin/build.ts"], { cwd: root });
  return textsIn(join(root, "dist"));
}

async function textsIn(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = files.map(
    async (path) => [path.slice(directory.length + 1), await readFile(path, "utf8")] as const,
  );
  return new Map((await Promise.all(texts)).toSorted());
}

test("builds in different folders have the same bytes", async () => {
  const again = await buildCopy(join(folder, "a/longer/path"));
  const here = await textsIn(join(folder, "dist"));

  expect([...again.keys()]).toEqual([...built.keys()]);
  for (const [path, text] of built) expect(`${path} ${again.get(path) === text}`).toBe(`${path} true`);
  for (const [path, text] of here) expect(`${path} ${built.get(path) === text}`).toBe(`${path} true`);
}, 300_000);

/** Each package with its version, of which a file of the builds has code. */
function held(builds: readonly Metafile[]): readonly string[] {
  const versions: Readonly<Record<string, { readonly version?: string; readonly link?: boolean }>> =
    packageLock.packages;
  const inputs = builds
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs));
  const packages = inputs.flatMap(([path, { bytesInOutput }]) => {
    const [place = "", name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
    return name !== undefined && bytesInOutput > 0 ? [`${name} ${versions[place]?.version}`] : [];
  });
  return [...new Set(packages)].toSorted();
}

/** Of a bill of materials; throws for one without hashes. */
function listed(path: string): readonly string[] {
  const { components } = billSchema.parse(JSON.parse(built.get(path) ?? ""));
  const names = components.map(({ purl }) => /^pkg:npm\/(.+)@([^@]+)$/.exec(decodeURIComponent(purl)));
  return names.map((found) => `${found?.[1]} ${found?.[2]}`).toSorted();
}

test("bill of materials and licences name each package whose code the package holds", () => {
  const licences = built.get("third-party-licenses.txt") ?? "";
  const licensed = licences.matchAll(/^(\S+ [\d.]+): (?:Apache-2\.0|MIT|MIT-0|BSD-3-Clause|ISC)$/gm);

  const all = held([program, construct, ofFunction]);

  expect(all).toContain(`undici ${packageLock.packages["node_modules/undici"].version}`);
  expect(listed("sbom.cdx.json")).toEqual(all);
  expect([...licensed].map(([, name]) => name).toSorted()).toEqual(all);
});

test("the function has a bill of materials of its own", () => {
  const ofProgramAlone = held([program]).filter((name) => !held([ofFunction]).includes(name));

  expect(listed("cdk/function/sbom.cdx.json")).toEqual(held([ofFunction]));
  expect(ofProgramAlone.map((name) => name.split(" ")[0])).toContain("commander");
});

test("no command loads DuckDB or a client of AWS before it uses it", () => {
  const loaded = loadedByEveryCommand();
  const modules = loaded.flatMap(({ inputs }) => Object.keys(inputs));
  const packages = loaded.flatMap(({ imports }) => imports.filter((one) => one.external));

  expect(modules).toContain("bin/cli/main.ts");
  expect(modules.filter((path) => /node_modules\/@(?:aws-sdk|smithy)\//.test(path))).toEqual([]);
  expect(
    packages.filter(({ kind, path }) => kind === "import-statement" && path.startsWith("@duckdb")),
  ).toEqual([]);
  expect(loaded.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(MAX_LOADED_BYTES);
});

/** The program's file, the one that it loads at once, and all that these import. */
function loadedByEveryCommand(): readonly Metafile["outputs"][string][] {
  const found = new Map<string, Metafile["outputs"][string]>();
  const load = (path: string): void => {
    const output = program.outputs[path];
    if (output === undefined || found.has(path)) return;
    found.set(path, output);
    for (const { kind, path: target } of output.imports) if (kind === "import-statement") load(target);
  };
  for (const path of Object.keys(program.outputs))
    if (/^(?:brand-events-sync|main-\w+)\.js$/.test(basename(path))) load(path);
  return [...found.values()];
}
