// The package as a user gets it, packed and installed; a CDK app of a user's, a folder with the packed package and links to the
// other packages, and what its cloud assembly has; and what such apps have that this project has not.

import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

export const ROOT = join(import.meta.dirname, "../..");
export const OWN_MODULES = join(ROOT, "node_modules");

export const execute = promisify(execFile);
/** Packages come from npm's cache where it has them. */
const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];

export interface InstalledPackage extends AsyncDisposable {
  readonly tarball: string;
  /** The paths in the tarball, in order. */
  readonly files: readonly string[];
  /** Where `npm install --global` puts packages. */
  readonly modules: string;
  readonly command: string;
}

/** The tarball of this project, made once for all files of tests that run together; otherwise in the folder. */
export async function packProject(folder: string): Promise<string> {
  const shared = join(process.env["NODE_COMPILE_CACHE"] ?? folder, "packed");
  if (!existsSync(shared)) {
    const own = await mkdtemp(join(folder, "packed-"));
    await execute("npm", ["pack", "--silent", "--pack-destination", own], { cwd: ROOT });
    await rename(own, shared).catch((error: unknown) => {
      // Another process may have been first.
      if (!existsSync(shared)) throw error;
    });
  }
  const [name = ""] = await readdir(shared);
  return join(shared, name);
}

export async function installPackage(): Promise<InstalledPackage> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-package-"));
  const prefix = join(folder, "prefix");
  const tarball = await packProject(folder);
  const listed = await execute("tar", ["-tzf", tarball]);
  await execute("npm", [...INSTALL, "--global", "--prefix", prefix, tarball], { cwd: folder });
  return {
    tarball,
    files: listed.stdout
      .trimEnd()
      .split("\n")
      .map((path) => path.replace("package/", ""))
      .toSorted(),
    modules: join(prefix, "lib/node_modules"),
    command: join(prefix, "bin/brand-events-sync"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** @param packages where each comes from */
export async function installInApp(
  app: string,
  tarball: string,
  packages: Readonly<Record<string, string>>,
): Promise<void> {
  const modules = join(app, "node_modules");
  const installed = join(modules, "brand-events-sync");
  await mkdir(installed, { recursive: true });
  await execute("tar", ["-xzf", tarball, "--strip-components=1", "-C", installed]);
  for (const [name, from] of Object.entries(packages)) {
    const link = join(modules, name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(from, name), link);
  }
}

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ Type: z.string() })),
});
const settingsSchema = z.object({ accounts: z.record(z.string(), z.object({ baseUrl: z.string() })) });

export interface Assembled {
  /** Of the stack's resources. */
  readonly types: readonly string[];
  readonly assets: readonly Asset[];
}

interface Asset {
  /** Each file's name and text. */
  readonly code: string;
  /** The accounts and their services. */
  readonly settings: string;
}

export async function assembled(outdir: string, stack: string): Promise<Assembled> {
  const template = templateSchema.parse(
    JSON.parse(await readFile(join(outdir, `${stack}.template.json`), "utf8")),
  );
  return {
    types: Object.values(template.Resources).map(({ Type }) => Type),
    assets: await assetsOf(outdir),
  };
}

export async function assetsOf(outdir: string): Promise<readonly Asset[]> {
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

export const OLDEST_CDK = "2.224.0";

/** The `package.json` of the folder. */
export const CDK_MANIFEST = JSON.stringify({
  private: true,
  dependencies: {
    "aws-cdk-lib": OLDEST_CDK,
    constructs: "10.4.3",
    typescript: "5.9.3",
    jest: "30.5.2",
    "@types/jest": "30.0.0",
    "@swc/core": "1.16.22",
    "@swc/jest": "0.2.39",
  },
});

/** Where `npm run setup:cdk` installs them. */
export const CDK_FOLDER = fileURLToPath(new URL("../../.cdk/", import.meta.url));

export const CDK_MODULES = join(CDK_FOLDER, "node_modules");

export function isInstalled(): boolean {
  // The file that npm writes last.
  if (!existsSync(join(CDK_MODULES, ".package-lock.json"))) return false;
  return readFileSync(join(CDK_FOLDER, "package.json"), "utf8") === CDK_MANIFEST;
}
