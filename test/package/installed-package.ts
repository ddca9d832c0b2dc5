// The package as a user gets it: packed, and installed as the only thing in an empty folder.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const ROOT = join(import.meta.dirname, "../..");
/** Packages come from npm's cache where it has them. */
const INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];

const execute = promisify(execFile);

export interface InstalledPackage extends AsyncDisposable {
  readonly tarball: string;
  /** The paths in the tarball, in order. */
  readonly files: readonly string[];
  /** Where `npm install --global` puts packages. */
  readonly modules: string;
  readonly command: string;
}

/** The tarball of this project, in a folder. */
export async function packProject(folder: string): Promise<string> {
  await execute("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: ROOT });
  const [name = ""] = (await readdir(folder)).filter((one) => one.endsWith(".tgz"));
  return join(folder, name);
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
