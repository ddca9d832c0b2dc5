// The package in the CDK apps of others: with the oldest and the newest `aws-cdk-lib`, CommonJS and ES modules, each way
// in which TypeScript finds declarations, and Jest as `cdk init` sets it up. In each the function and the queries are found.

import { globSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import {
  assembled,
  CDK_MODULES,
  execute,
  installInApp,
  isInstalled,
  OLDEST_CDK,
  OWN_MODULES,
  packProject,
  ROOT,
} from "./consumer-app.ts";

const SYNTHESIZED = `
const settings = { baseUrl: "https://brand.example.net", accounts: { uk: { schedule: "rate(1 day)" } } };
const app = new App({ outdir: process.env["OUTDIR"] });
new EventSync(new Stack(app, "Platform"), "Events", { settings });
app.synth();
`;
const APP = `
import { App, Stack } from "aws-cdk-lib";
import { EventSync, type EventSyncProps } from "brand-events-sync";
${SYNTHESIZED}
// @ts-expect-error: without the declarations anything would compile.
export const wrong: EventSyncProps = { settings: { accounts: { uk: {} } } };
`;
const JEST_TEST = `
import { App, Stack } from "aws-cdk-lib";
import { EventSync } from "brand-events-sync";
test("it is synthesized", () => {${SYNTHESIZED}});
`;
/** What the CDK's command line makes a new app of. */
const TEMPLATE = join(OWN_MODULES, "aws-cdk/lib/init-templates/app/typescript");
const QUERIES = globSync("lib/data/queries/*.sql", { cwd: ROOT }).length;

const OLDEST = {
  cdk: OLDEST_CDK,
  modules: CDK_MODULES,
  /** The setting of Jest came later. */
  jestConfig: "module.exports.setupFilesAfterEnv = [];",
};
const NEWEST = { cdk: packageJson.devDependencies["aws-cdk-lib"], modules: OWN_MODULES, jestConfig: "" };
const LIBRARIES = [OLDEST, NEWEST];
/** `node10` is what TypeScript 7 has no more. */
const COMPILED = [
  { resolution: "node10", module: "commonjs", type: "commonjs", compiler: () => CDK_MODULES },
  { resolution: "node16", module: "node16", type: "commonjs", compiler: (own: string) => own },
  { resolution: "nodenext", module: "nodenext", type: "module", compiler: (own: string) => own },
].flatMap((row) => LIBRARIES.map((library) => ({ ...row, ...library })));

/** Tests are skipped where the packages are missing, and fail with `CI=true`. */
const isSkipped = !isInstalled() && process.env["CI"] !== "true";
if (isSkipped) process.stderr.write("The tests of other CDK apps are skipped: npm run setup:cdk\n");

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "brand-events-cdk-apps-"));
  if (!isSkipped) tarball = await packProject(folder);
}, 300_000);

afterAll(() => rm(folder, { recursive: true }));

/** A new folder with the package, the CDK from `modules`, and Jest. */
async function newApp(modules: string, type = "commonjs"): Promise<string> {
  const app = await mkdtemp(join(folder, "app-"));
  await writeFile(join(app, "package.json"), JSON.stringify({ type }));
  await installInApp(app, tarball, {
    ...{ "aws-cdk-lib": modules, constructs: modules },
    ...{ "@types/node": OWN_MODULES, "undici-types": OWN_MODULES },
    ...{ "@swc": CDK_MODULES, "@types/jest": CDK_MODULES },
  });
  return app;
}

async function expectDeployment(outdir: string): Promise<void> {
  const { types, assets } = await assembled(outdir, "Platform");

  expect(types.filter((type) => type === "AWS::Athena::NamedQuery")).toHaveLength(QUERIES);
  expect(assets.map(({ settings }) => settings)).toEqual(["uk https://brand.example.net/"]);
  expect(assets[0]?.code).toMatch(/^index\.mjs$/m);
}

describe.skipIf(isSkipped)("an app", () => {
  test.each(COMPILED)(
    "with aws-cdk-lib $cdk, compiled as $type with moduleResolution $resolution",
    async ({ modules, type, module, resolution: moduleResolution, compiler }) => {
      const app = await newApp(modules, type);
      const compilerOptions = {
        target: "es2022",
        module,
        moduleResolution,
        strict: true,
        skipLibCheck: true,
      };
      await writeFile(
        join(app, "tsconfig.json"),
        JSON.stringify({ compilerOptions: { ...compilerOptions, types: ["node"] }, files: ["app.ts"] }),
      );
      await writeFile(join(app, "app.ts"), APP);
      await execute(process.execPath, [join(compiler(modules), "typescript/bin/tsc"), "-p", "."], {
        cwd: app,
      });

      await execute(process.execPath, ["app.js"], { cwd: app, env: { OUTDIR: join(app, "cdk.out") } });

      await expectDeployment(join(app, "cdk.out"));
    },
  );

  test.each(LIBRARIES)(
    "with aws-cdk-lib $cdk, in Jest as cdk init sets it up",
    async ({ modules, jestConfig }) => {
      const app = await newApp(modules);
      await mkdir(join(app, "test"));
      await cp(join(TEMPLATE, "jest.config.js"), join(app, "jest.config.js"));
      await writeFile(join(app, "jest.config.js"), jestConfig, { flag: "a" });
      await writeFile(join(app, "test/app.test.ts"), JEST_TEST);

      const { stderr } = await execute(process.execPath, [join(CDK_MODULES, "jest/bin/jest.js"), "--ci"], {
        cwd: app,
        env: { ...process.env, OUTDIR: join(app, "cdk.out") },
      });

      expect(stderr).toContain("1 passed");
      await expectDeployment(join(app, "cdk.out"));
    },
  );
});
