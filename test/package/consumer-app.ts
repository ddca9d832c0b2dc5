// A CDK app of a user's: a folder with the packed package and links to the other packages. And what its cloud assembly has.

import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";

export const ROOT = join(import.meta.dirname, "../..");
export const OWN_MODULES = join(ROOT, "node_modules");

export const execute = promisify(execFile);

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
