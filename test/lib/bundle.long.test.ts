// The function's bundle, as the stack makes it: its contents, its size, and that it loads without node_modules.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { App, type Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { parseFunctionFile } from "../../lambdas/sync/environment.ts";
import { bundleFunction } from "../../lib/compute/bundle-function.ts";
import { CONTEXT, stackIn, WITHOUT_RULES } from "./synthesized.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAX_BYTES = 3_500_000;

// In a directory without node_modules above it.
const outdir = mkdtempSync(join(tmpdir(), "brand-events-bundle-"));
afterAll(() => rmSync(outdir, { recursive: true }));

/** What a shell would interpret. */
const QUOTES = "/a \"b\" 'c' $HOME `d` \\ é";
const SETTINGS = {
  baseUrl: "https://api.example.com",
  accounts: { "u-k_1": { schedule: "rate(1 day)" } },
  lifted: [{ name: "quote", pointer: QUOTES }],
};

function synth(settings: object, directory: string): Stack {
  const app = new App({ ...WITHOUT_RULES, context: CONTEXT, outdir: directory });
  const stack = stackIn(app, settings);
  app.synth();
  return stack;
}

const stack = synth(SETTINGS, outdir);

const assets = readdirSync(outdir).filter((name) => name.startsWith("asset."));
const folder = join(outdir, assets[0] ?? "");
const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted();
const codeOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const code = names.filter((name) => name.endsWith(".mjs"));
const bundle = code.map(codeOf).join("\n");

/** What each file of the code was built from. */
const outputs = new Map(
  Object.entries(bundleFunction(join(outdir, "again")).outputs).map(([path, output]) => [
    relative(join(outdir, "again"), resolve(ROOT, path)),
    output,
  ]),
);
const modules = [...outputs.values()].flatMap(({ inputs }) =>
  Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
);

/** What `program` prints, which finds `handler`, in a process with an empty environment. */
function load(program: string, before = ""): string {
  const script = `${before} const { handler } = await import(${JSON.stringify(pathToFileURL(join(folder, "index.mjs")).href)}); ${program}`;
  const args = ["--input-type=module", "--eval", script];
  return execFileSync(process.execPath, args, { cwd: outdir, env: {} }).toString();
}

describe("the bundle", () => {
  it("is one folder: the handler, the settings, and the code that it loads", () => {
    expect(assets).toHaveLength(1);
    expect(names.filter((name) => !name.startsWith("chunks"))).toEqual([
      "index.mjs",
      "sbom.cdx.json",
      "settings.json",
    ]);
    expect(parseFunctionFile(codeOf("settings.json"))).toMatchObject({
      accounts: { "u-k_1": { baseUrl: "https://api.example.com/" } },
      lifted: [{ name: "quote", pointer: QUOTES }],
    });
  });

  it("is the same, byte for byte, each time it is made", () => {
    const other = mkdtempSync(join(tmpdir(), "brand-events-bundle-"));
    onTestFinished(() => rmSync(other, { recursive: true }));

    synth(SETTINGS, other);

    expect(readdirSync(other).filter((name) => name.startsWith("asset."))).toEqual(assets);
  });

  it("is a new version of the function if only a setting of an account changes", () => {
    const changed = { ...SETTINGS, accounts: { "u-k_1": { schedule: "rate(1 day)", concurrency: 5 } } };
    const other = mkdtempSync(join(tmpdir(), "brand-events-bundle-"));
    onTestFinished(() => rmSync(other, { recursive: true }));

    const versions = [stack, synth(changed, other)].map((each) =>
      Object.keys(Template.fromStack(each).findResources("AWS::Lambda::Version")),
    );

    expect(versions.map((ids) => ids.length)).toEqual([1, 1]);
    expect(versions[0]).not.toEqual(versions[1]);
  });

  it(`is smaller than ${MAX_BYTES} bytes`, () => {
    expect(Buffer.byteLength(bundle)).toBeLessThan(MAX_BYTES);
  });

  it("is described by what it was built from: the same files", () => {
    expect([...outputs.keys()].toSorted()).toEqual(code);
  });

  it("has none of zod's languages", () => {
    expect(modules.filter((path) => path.includes("zod/v4/locales/") && !path.endsWith("/en.js"))).toEqual(
      [],
    );
  });

  it("contains the function's code and its packages, nothing of the command line, the tests or the CDK", () => {
    const origins = modules.map(
      (path) => /^node_modules\/(@[^/]+|[^/]+)/.exec(path)?.[1] ?? path.split("/")[0],
    );

    expect([...new Set(origins)].toSorted()).toEqual([
      "@aws",
      "@aws-lambda-powertools",
      "@aws-sdk",
      "@smithy",
      "bowser",
      "lambdas",
      "package.json",
      "tldts",
      "tldts-core",
      "tough-cookie",
      "undici",
      "zod",
    ]);
  });

  it("loads without node_modules, and exports a handler", () => {
    expect(load("console.log(typeof handler)")).toBe("function\n");
  });

  it("has no file that does not load", () => {
    const urls = code.map((name) => pathToFileURL(join(folder, name)).href);

    expect(load(`for (const url of ${JSON.stringify(urls)}) await import(url); console.log("all")`)).toBe(
      "all\n",
    );
  });

  it("asks for nothing of a language when it loads: the first formatter takes 10 ms", () => {
    const refuse = `Intl.NumberFormat = Intl.DateTimeFormat = Intl.Collator = class { constructor() { throw new Error("Intl"); } };`;

    expect(load("console.log(typeof handler)", refuse)).toBe("function\n");
  });

  it("imports only its own files and modules of Node.js", () => {
    const imported = [...outputs.values()].flatMap(({ imports }) => imports.filter((one) => one.external));

    expect(imported).not.toEqual([]);
    expect(imported.filter(({ path }) => !isBuiltin(path))).toEqual([]);
  });
});
