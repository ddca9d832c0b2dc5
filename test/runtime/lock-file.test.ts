// Everything that npm installs is fixed to the byte, the Node.js that runs it included.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";

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
