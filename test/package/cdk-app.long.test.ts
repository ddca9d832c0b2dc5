// `examples/cdk-app` with the packed package, as a user's app: compiled strictly, with what docs/cdk.md shows, and
// synthesized without the sources and without esbuild.

import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { synth } from "../e2e/template.ts";
import {
  assembled,
  assetsOf,
  execute,
  installInApp,
  OWN_MODULES,
  packProject,
  ROOT,
} from "./consumer-app.ts";

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
export const f: EventSyncProps = { settings: { accounts: {} }, permissionBoundary: undefined };
`;
/** What a reader of docs/cdk.md has already, around what it shows. */
const KNOWN = `
import { CfnEIP, GatewayVpcEndpointAwsService, NatProvider, Vpc } from "aws-cdk-lib/aws-ec2";
import { Rule } from "aws-cdk-lib/aws-events";
import { SqsQueue } from "aws-cdk-lib/aws-events-targets";
import type { Role } from "aws-cdk-lib/aws-iam";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { EventSyncSettings } from "brand-events-sync";
interface Known {
  readonly events: EventSync;
  readonly analysts: Role;
  readonly queue: Queue;
  readonly settings: EventSyncSettings;
}
`;

const AUTHORIZED = `
const { App, Stack } = require("aws-cdk-lib");
const { EventSync } = require("brand-events-sync");
const app = new App();
const stack = new Stack(app, "Stack", { env: { account: "123456789012", region: "eu-west-1" } });
const accounts = { uk: { schedule: "rate(1 day)", authUrl: "https://login.example.net" } };
new EventSync(stack, "Events", { settings: { baseUrl: "https://brand.example.net", accounts } });
app.synth();
`;

const REQUIRE =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

let folder: string;
let app: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-events-cdk-app-"));
  app = join(folder, "app");
  await cp(join(ROOT, "examples/cdk-app"), app, { recursive: true });
  const packages = ["aws-cdk-lib", "constructs", "@types/node", "undici-types", "fs-native-extensions"];
  await installInApp(
    app,
    await packProject(folder),
    Object.fromEntries(packages.map((name) => [name, OWN_MODULES])),
  );
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

/** Compiles the app with these files beside its own, and says where the compiler found something wrong: `file.ts:line`. */
async function compile(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(app, name), content);
  const config = z
    .looseObject({ compilerOptions: z.looseObject({ strict: z.literal(true) }) })
    .parse(JSON.parse(await readFile(join(app, "tsconfig.json"), "utf8")));
  const checked = { ...config, files: ["app.ts", ...Object.keys(files)] };
  await writeFile(join(app, "tsconfig.json"), JSON.stringify(checked));
  const compiler = [
    join(OWN_MODULES, "typescript/bin/tsc"),
    "-p",
    "tsconfig.json",
    "--skipLibCheck",
    "false",
  ];
  try {
    await execute(process.execPath, compiler, { cwd: app });
    return [];
  } catch (error) {
    const { stdout } = z.object({ stdout: z.string() }).parse(error);
    return [...stdout.matchAll(/^(\S+\.ts)\((\d+),/gm)].map(([, file, line]) => `${file}:${line}`);
  }
}

/** The snippets, each in a function of its own, after what they import. */
function snippetsOf(page: string): string {
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  const imports = blocks.flatMap((block) => block.match(/^import .*$/gm) ?? []);
  const functions = blocks.map(
    (block, n) =>
      `export function snippet${n}(this: Construct, { events, analysts, queue, settings }: Known) {\n{\n${block.replaceAll(/^import .*$/gm, "")}}\n}`,
  );
  return [KNOWN, ...imports, ...functions].join("\n");
}

describe("an app with the package", () => {
  test("compiles with strict, the snippets of the page and the package's declarations too, and wrong settings do not", async () => {
    const snippets = snippetsOf(await readFile(join(ROOT, "docs/cdk.md"), "utf8"));

    const refused = await compile({ "snippets.ts": snippets, "types.ts": TYPES, "wrong.ts": WRONG });

    expect(snippets).toContain("snippet2");
    expect(refused).toEqual([3, 4, 5, 6, 7, 8].map((line) => `wrong.ts:${line}`));
  });

  test("is synthesized as it was compiled: two deployments, each with its settings and the code that a clone deploys", async () => {
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

    const { types, assets } = await assembled(outdir, "DataPlatform");
    const [ofClone] = await assetsOf(cloned);
    expect(types.filter((type) => type === "AWS::Athena::NamedQuery").length).toBeGreaterThanOrEqual(20);
    expect(types.filter((type) => type === "AWS::Lambda::Function")).toHaveLength(2);
    expect(assets.map(({ settings }) => settings).toSorted()).toEqual([
      "uk https://brand.example.net/, us https://brand.example.net/",
      "uk https://lab.example.net/",
    ]);
    for (const { code } of assets) expect(code === ofClone?.code).toBe(true);
  }, 300_000);

  test("names a command for its own folder that logs in", async () => {
    const file = join(app, "authorized.cjs");
    await writeFile(file, AUTHORIZED);
    const bin = join(app, "node_modules/.bin");
    await mkdir(bin);
    await symlink("../brand-events-sync/dist/brand-events-sync.js", join(bin, "brand-events-sync"));
    const outdir = join(folder, "cdk.out-authorized");
    const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: "{}" };
    await execute(process.execPath, [file], { cwd: app, env });
    const template = await readFile(join(outdir, "Stack.template.json"), "utf8");
    const [, command = ""] =
      /AWS_REGION=eu-west-1 (npx brand-events-sync authorize) --auth-url/.exec(template) ?? [];

    const { stdout } = await execute("sh", ["-c", `${command} --help`], { cwd: app });

    expect(stdout).toContain(`${await realpath(bin)}/brand-events-sync authorize`);
    expect(template).toMatch(/"BRAND_EVENTS_PROGRAM": ?"npx brand-events-sync"/);
  });

  test.each(["cjs", "esm"] as const)(
    "that is bundled with esbuild as %s says what to leave out of the bundle, and is synthesized then",
    async (format) => {
      const synthesize = async (external: readonly string[]) => {
        const outfile = join(app, `bundled-${format}-${external.length}.${format === "cjs" ? "cjs" : "mjs"}`);
        await build({
          ...{ entryPoints: [join(app, "app.ts")], outfile, bundle: true, platform: "node", format },
          external: ["aws-cdk-lib", "constructs", ...external],
          // In an ES module esbuild has no `require` for packages that are CommonJS.
          ...(format === "esm" && { banner: { js: REQUIRE } }),
        });
        const outdir = join(folder, `cdk.out-${format}`);
        const env = { CDK_OUTDIR: outdir, CDK_CONTEXT_JSON: "{}", PATH: "/nowhere" };
        await execute(process.execPath, [outfile], { cwd: app, env });
        return assembled(outdir, "DataPlatform");
      };

      await expect(synthesize([])).rejects.toThrow(
        /EventSync: expected the saved queries and the function beside its code[\s\S]*--external:brand-events-sync/,
      );
      expect((await synthesize(["brand-events-sync"])).assets).toHaveLength(2);
    },
    300_000,
  );
});
