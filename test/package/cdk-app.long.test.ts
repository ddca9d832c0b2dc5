// `examples/cdk-app` with the packed package, as a user's app: compiled strictly, and synthesized without the sources
// and without esbuild.

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { synth } from "../e2e/synth.ts";
import { packProject } from "./installed-package.ts";

const ROOT = join(import.meta.dirname, "../..");
const TYPES = `
import type { EventSyncProps } from "brand-events-sync";
const accounts = { uk: { schedule: "rate(1 day)" } };
export const path: EventSyncProps = { settings: "brand-events.json" };
export const least: EventSyncProps = { settings: { accounts } };
`;
/** What the compiler must refuse, in the lines below. */
const WRONG = `
import type { EventSyncProps } from "brand-events-sync";
export const a: EventSyncProps = {};
export const b: EventSyncProps = { settings: { accounts: { uk: {} } } };
export const c: EventSyncProps = { settings: { accounts: {}, retaindays: 5 } };
export const d: EventSyncProps = { settings: { accounts: {}, requestsPerMinute: "many" } };
export const e: EventSyncProps = { settings: { accounts: {} }, encryptionKey: "key" };
`;

const execute = promisify(execFile);
const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
});
const settingsSchema = z.object({ accounts: z.record(z.string(), z.object({ baseUrl: z.string() })) });

let folder: string;
let app: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-events-cdk-app-"));
  app = join(folder, "app");
  const modules = join(app, "node_modules");
  const installed = join(modules, "brand-events-sync");
  await cp(join(ROOT, "examples/cdk-app"), app, { recursive: true });
  await mkdir(installed, { recursive: true });
  const tarball = await packProject(folder);
  await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  for (const name of ["aws-cdk-lib", "constructs", "@types/node", "undici-types"]) {
    const link = join(modules, name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, "node_modules", name), link);
  }
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

/** Where the compiler found something wrong: `file.ts(line,`. */
async function compile(...more: readonly string[]): Promise<readonly string[]> {
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  try {
    await execute(process.execPath, [compiler, "-p", "tsconfig.json", ...more], { cwd: app });
    return [];
  } catch (error) {
    const { stdout } = z.object({ stdout: z.string() }).parse(error);
    return [...stdout.matchAll(/^(\S+\.ts)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`);
  }
}

describe("an app with the package", () => {
  test("compiles with strict, and with the declarations of the package checked too", async () => {
    await writeFile(join(app, "types.ts"), TYPES);
    const config = z
      .looseObject({ compilerOptions: z.looseObject({}) })
      .parse(JSON.parse(await readFile(join(app, "tsconfig.json"), "utf8")));
    const checked = { ...config, files: ["app.ts", "types.ts"] };
    await writeFile(join(app, "tsconfig.json"), JSON.stringify(checked));

    expect(config.compilerOptions).toMatchObject({ strict: true });
    expect(await compile("--skipLibCheck", "false")).toEqual([]);
  });

  test("that is CommonJS gets the construct with require", async () => {
    const program = 'console.log(typeof require("brand-events-sync").EventSync)';

    const { stdout } = await execute(process.execPath, ["--input-type=commonjs", "--eval", program], {
      cwd: app,
    });

    expect(stdout).toBe("function\n");
  });

  test("does not compile with wrong props and settings", async () => {
    await writeFile(join(app, "wrong.ts"), WRONG);
    await writeFile(
      join(app, "tsconfig.wrong.json"),
      '{ "extends": "./tsconfig.json", "files": ["wrong.ts"] }',
    );

    expect(await compile("-p", "tsconfig.wrong.json", "--noEmit")).toEqual(
      [3, 4, 5, 6, 7].map((line) => `wrong.ts:${line}`),
    );
  });

  test("is synthesized: two deployments, each with its settings and the code that a clone deploys", async () => {
    await compile();
    const cloned = await synth({
      baseUrl: "https://api.example.com",
      accounts: { uk: { schedule: "rate(1 day)" } },
    });
    onTestFinished(() => rm(cloned, { recursive: true }));

    const outdir = join(folder, "cdk.out");
    await execute(process.execPath, ["build/app.js"], {
      cwd: app,
      env: { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: "{}", PATH: "/nowhere" },
    });

    const template = templateSchema.parse(
      JSON.parse(await readFile(join(outdir, "DataPlatform.template.json"), "utf8")),
    );
    const types = Object.values(template.Resources).map(({ Type }) => Type);
    const assets = await assetsOf(outdir);
    const [ofClone] = await assetsOf(cloned);
    expect(types.filter((type) => type === "AWS::Athena::NamedQuery").length).toBeGreaterThanOrEqual(20);
    expect(types.filter((type) => type === "AWS::Lambda::Function")).toHaveLength(2);
    expect(assets.map(({ settings }) => settings).toSorted()).toEqual([
      "uk https://brand.example.net/, us https://brand.example.net/",
      "uk https://lab.example.net/",
    ]);
    for (const { code } of assets) expect(code === ofClone?.code).toBe(true);
  }, 300_000);
});

interface Asset {
  /** Each file's name and text. */
  readonly code: string;
  /** The accounts and their services. */
  readonly settings: string;
}

async function assetsOf(outdir: string): Promise<readonly Asset[]> {
  const names = (await readdir(outdir)).filter((name) => name.startsWith("asset."));
  return Promise.all(
    names.map(async (name) => {
      const files = await readdir(join(outdir, name), { recursive: true });
      const ofCode = files.filter((file) => /\.(?:mjs|cdx\.json)$/.test(file)).toSorted();
      const texts = ofCode.map(async (file) => [file, await readFile(join(outdir, name, file), "utf8")]);
      const code = (await Promise.all(texts)).flat().join("\n");
      const text = await readFile(join(outdir, name, "settings.json"), "utf8");
      const { accounts } = settingsSchema.parse(JSON.parse(text));
      const settings = Object.entries(accounts).map(([account, { baseUrl }]) => `${account} ${baseUrl}`);
      return { code, settings: settings.join(", ") };
    }),
  );
}
