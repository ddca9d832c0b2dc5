import { join } from "node:path";
import { expect, test } from "vitest";
import { compileCacheFolder } from "../../../bin/cli/start/compile-cache-folder.ts";

const HOME = join("/home", "ann");

test.each([
  { platform: "linux", env: {}, folder: join(HOME, ".cache") },
  { platform: "linux", env: { XDG_CACHE_HOME: "/var/cache/ann" }, folder: "/var/cache/ann" },
  { platform: "linux", env: { XDG_CACHE_HOME: "" }, folder: join(HOME, ".cache") },
  { platform: "freebsd", env: {}, folder: join(HOME, ".cache") },
  { platform: "darwin", env: { XDG_CACHE_HOME: "/other" }, folder: join(HOME, "Library", "Caches") },
  { platform: "win32", env: { LOCALAPPDATA: "/local" }, folder: "/local" },
  { platform: "win32", env: {}, folder: join(HOME, "AppData", "Local") },
] as const)("on $platform with $env compiled code is kept in $folder", ({ platform, env, folder }) => {
  expect(compileCacheFolder(platform, env, HOME)).toBe(join(folder, "brand-events-sync"));
});
