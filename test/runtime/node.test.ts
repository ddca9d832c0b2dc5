// The Node.js that npm installs: everything is fixed to the byte, and where npm has none for a platform, `node` is a launcher:
// any other Node.js does the work if it is new enough.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";

const LAUNCHER = fileURLToPath(new URL("../../runtime/node-launcher", import.meta.url));

/** A Node.js that says that it is 20. */
const OLD = `#!/bin/sh
exec "${process.execPath}" --eval 'Object.defineProperty(process, "versions", { value: { node: "20.11.1" } }); require(process.argv[1]);' "$@"
`;

interface Ended {
  readonly code: number | null;
  readonly pid: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder for PATH in which the launcher is `node`, as npm links it, and one with another Node.js or none. */
async function folders(
  other: "new" | "old" | "none",
): Promise<{ readonly bin: string; readonly path: string }> {
  const folder = await temporaryDirectory();
  const [bin, path] = [join(folder, ".bin"), join(folder, "other")];
  await Promise.all([mkdir(bin), mkdir(path)]);
  await symlink(LAUNCHER, join(bin, "node"));
  if (other === "new") await symlink(process.execPath, join(path, "node"));
  if (other === "old") {
    await writeFile(join(path, "node"), OLD);
    await chmod(join(path, "node"), 0o755);
  }
  return { bin, path: [bin, path].join(delimiter) };
}

async function launch(
  bin: string,
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ended> {
  const child = spawn(join(bin, "node"), args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
    new Promise<number | null>((resolve) => child.once("close", resolve)),
  ]);
  return { code, pid: child.pid, stdout: stdout.join(""), stderr: stderr.join("") };
}

describe.skipIf(process.platform === "win32")("the launcher", () => {
  test("becomes the Node.js that comes next in PATH: same arguments, same process", async () => {
    const { bin, path } = await folders("new");

    const ended = await launch(
      bin,
      { PATH: path },
      "--no-warnings",
      "-p",
      "process.pid + process.argv[1]",
      "a b",
    );

    expect(ended).toEqual({ code: 0, pid: ended.pid, stdout: `${ended.pid}a b\n`, stderr: "" });
  });

  test("prefers the Node.js that npm runs on", async () => {
    const { bin, path } = await folders("old");

    const ended = await launch(bin, { PATH: path, npm_node_execpath: process.execPath }, "-p", "1 + 1");

    expect(ended).toMatchObject({ code: 0, stdout: "2\n" });
  });

  test("is not taken in by itself", async () => {
    const { bin, path } = await folders("new");

    const ended = await launch(bin, { PATH: path, npm_node_execpath: join(bin, "node") }, "-p", "1 + 1");

    expect(ended).toMatchObject({ code: 0, stdout: "2\n" });
  });

  test("passes on how it ends", async () => {
    const { bin, path } = await folders("new");

    expect(await launch(bin, { PATH: path }, "-e", "process.exit(3)")).toMatchObject({ code: 3 });
  });

  test("says in one line which Node.js is needed where there is an old one only", async () => {
    const { bin, path } = await folders("old");

    const ended = await launch(bin, { PATH: path }, "bin/sync.ts", "run");

    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(
      /^brand-events-sync needs Node\.js 24 or newer, and \S+ is 20\.11\.1: npm has none for \w+ \w+, so install it from https:\/\/nodejs\.org and start again\.\n$/,
    );
  });

  test("says in one line which Node.js is needed where there is none", async () => {
    const { bin, path } = await folders("none");

    expect(await launch(bin, { PATH: path }, "bin/sync.ts", "run")).toMatchObject({
      code: 1,
      stdout: "",
      stderr:
        "brand-events-sync needs Node.js 24 or newer: install it from https://nodejs.org and start again.\n",
    });
  });
});

const PACKAGE = z.object({
  version: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  optional: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
  os: z.union([z.string(), z.array(z.string())]).optional(),
  cpu: z.union([z.string(), z.array(z.string())]).optional(),
});
const LOCK = z.object({ packages: z.record(z.string(), PACKAGE) });
const MANIFEST = z.object({
  bin: z.record(z.string(), z.string()).optional(),
  workspaces: z.array(z.string()).optional(),
  allowScripts: z.record(z.string(), z.boolean()).optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

const read = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));

const { packages } = LOCK.parse(read("package-lock.json"));
const root = MANIFEST.parse(read("package.json"));
const runtime = MANIFEST.parse(read("runtime/package.json"));

test("every package from the registry has a hash", () => {
  const without = Object.entries(packages).filter(
    ([path, { integrity, link, inBundle }]) =>
      path.includes("node_modules/") && !link && !inBundle && integrity === undefined,
  );

  expect(without).toEqual([]);
});

test("only esbuild may run a script when it is installed, and Node.js is none of those that have one", () => {
  const withScript = Object.keys(packages).filter((path) => packages[path]?.hasInstallScript);

  expect(root.allowScripts).toEqual({ esbuild: true });
  expect(withScript).toEqual(["node_modules/esbuild"]);
});

test("each platform's Node.js is an exact version in the lock file, for one platform", () => {
  const versions = Object.entries(runtime.optionalDependencies ?? {});
  const locked = versions.map(([name]) => packages[`node_modules/${name}`]);

  expect(locked.map((found) => found?.version)).toEqual(versions.map(([, version]) => version));
  expect(locked.map((found) => [found?.optional, /^sha512-/.test(found?.integrity ?? "")])).toEqual(
    versions.map(() => [true, true]),
  );
  expect(locked.map((found) => [found?.os, found?.cpu].flat().join(" ")).sort()).toEqual([
    "darwin arm64",
    "darwin x64",
    "linux arm64",
    "linux x64",
    "win32 arm64",
    "win32 x64",
  ]);
  expect(versions.filter(([, version]) => !/^2[46]\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("a package of the tool carries no Node.js, and the launcher takes the name that each platform's has", () => {
  const dependencies = Object.keys(root.dependencies ?? {});

  expect(root.workspaces).toEqual(["runtime"]);
  expect(
    dependencies.filter((name) => name === "node" || name in (runtime.optionalDependencies ?? {})),
  ).toEqual([]);
  expect(runtime.bin).toEqual({ node: "node-launcher" });
});
