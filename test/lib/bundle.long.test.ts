// The function's bundle, as the stack makes it: its contents, its size, and that it loads without node_modules.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { App } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { parseSettingsFile } from "../../lambdas/sync/settings-file.ts";
import { parseSettings } from "../../lib/settings/settings.ts";
import { EventSyncStack } from "../../lib/stack.ts";
import { CONTEXT, WITHOUT_RULES } from "./synthesized.ts";

const MAX_BYTES = 4_500_000;

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

function synth(settings: object, directory: string): EventSyncStack {
  const app = new App({ ...WITHOUT_RULES, context: CONTEXT, outdir: directory });
  const stack = new EventSyncStack(app, "Stack", { settings: parseSettings(settings) });
  app.synth();
  return stack;
}

const stack = synth(SETTINGS, outdir);

const assets = readdirSync(outdir).filter((name) => name.startsWith("asset."));
const files = assets.flatMap((asset) =>
  readdirSync(join(outdir, asset)).map((file) => join(outdir, asset, file)),
);
const bundle = readFileSync(files[0] ?? "", "utf8");
/** esbuild begins each module with its path. */
const modules = [...bundle.matchAll(/^\/\/ (\S+\.(?:ts|js|mjs|cjs|json))$/gm)].map(([, path = ""]) => path);

/** What `program` prints, which finds `handler`, in a process with an empty environment. */
function load(program: string, before = ""): string {
  const script = `${before} const { handler } = await import(${JSON.stringify(pathToFileURL(files[0] ?? "").href)}); ${program}`;
  const args = ["--input-type=module", "--eval", script];
  return execFileSync(process.execPath, args, { cwd: outdir, env: {} }).toString();
}

describe("the bundle", () => {
  it("is one file of code, and the settings beside it", () => {
    expect(files.map((file) => file.split("/").at(-1))).toEqual(["index.mjs", "settings.json"]);
    expect(parseSettingsFile(readFileSync(files[1] ?? "", "utf8"))).toMatchObject({
      accounts: { "u-k_1": { baseUrl: "https://api.example.com/" } },
      lifted: [{ name: "quote", pointer: QUOTES }],
    });
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

  it("has nothing that makes a cold start slow: no import of node:http, none of zod's languages", () => {
    expect(bundle).not.toMatch(/^import .*"(?:node:)?http";$/m);
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
      "lambdas",
      "oauth4webapi",
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

  it("asks for nothing of a language when it loads: the first formatter takes 10 ms", () => {
    const refuse = `Intl.NumberFormat = Intl.DateTimeFormat = Intl.Collator = class { constructor() { throw new Error("Intl"); } };`;

    expect(load("console.log(typeof handler)", refuse)).toBe("function\n");
  });

  it("imports only modules of Node.js", () => {
    const imported = [
      ...bundle.matchAll(/^import .*?from "([^"]+)";$|\b(?:__require|import)\("([^"]+)"\)/gm),
    ].map(([, named, called]) => named ?? called ?? "");

    expect(imported).not.toEqual([]);
    expect(imported.filter((name) => !isBuiltin(name))).toEqual([]);
  });
});
