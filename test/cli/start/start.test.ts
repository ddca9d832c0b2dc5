import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  compileCacheFolder,
  keepHeapSmall,
  refusedNode,
  usableCacheFolder,
} from "../../../bin/cli/start/start.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

test.each(["22.21.0", "22.22.3", "23.0.0", "24.1.0", "100.0.0"])("Node.js %s will do", (version) => {
  expect(refusedNode(version, "/usr/bin/node")).toBeUndefined();
});

test.each(["22.20.9", "22.9.0", "20.30.1", "4.99.0"])("Node.js %s is refused", (version) => {
  expect(refusedNode(version, "/usr/bin/node")).toBe(
    `brand-events-sync needs Node.js 22.21 or newer, and /usr/bin/node is ${version}: install a newer one from https://nodejs.org and start again.`,
  );
});

test("the package asks for the same", () => {
  expect(packageJson.engines.node).toBe(">=22.21");
});

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

describe.skipIf(process.platform === "win32")("compiled code", () => {
  const ANN = process.getuid?.() ?? 0;

  /** Files as they are, but for the owner or the mode of one folder. */
  const files = (changed: string, over: { readonly uid?: number; readonly mode?: number }) => ({
    ...fs,
    lstatSync: (path: string) => {
      const { uid, mode } = fs.lstatSync(path);
      return path === changed ? { uid, mode, ...over } : { uid, mode };
    },
  });

  it("is kept in a new folder that only this user may use", async () => {
    const folder = join(await temporaryDirectory(), "cache", "sync");

    expect(usableCacheFolder(fs, folder, ANN)).toBe(fs.realpathSync(folder));
    expect((fs.statSync(folder).mode & 0o777).toString(8)).toBe("700");
  });

  it.each([
    { what: "the folder is another user's", at: "sync", over: { uid: ANN + 1 } },
    { what: "a group may write the folder", at: "sync", over: { mode: 0o770 } },
    { what: "everybody may write the folder", at: "sync", over: { mode: 0o707 } },
    { what: "everybody may write the folder, which is sticky", at: "sync", over: { mode: 0o1777 } },
    { what: "the folder above is another user's", at: "cache", over: { uid: ANN + 1 } },
    { what: "a group may put another folder in its place", at: "cache", over: { mode: 0o770 } },
  ])("is not kept where $what", async ({ at, over }) => {
    const folder = join(fs.realpathSync(await temporaryDirectory()), "cache", "sync");
    const changed = at === "sync" ? folder : dirname(folder);

    expect(usableCacheFolder(files(changed, over), folder, ANN)).toBeUndefined();
  });

  it("is kept in a folder of this user in a sticky folder", async () => {
    const folder = join(fs.realpathSync(await temporaryDirectory()), "cache", "sync");

    expect(usableCacheFolder(files(dirname(folder), { uid: 0, mode: 0o1777 }), folder, ANN)).toBe(folder);
  });

  it("is not kept where no folder can be made, and a link is followed to what it names", async () => {
    const directory = fs.realpathSync(await temporaryDirectory());
    fs.writeFileSync(join(directory, "file"), "");
    fs.mkdirSync(join(directory, "real"), { mode: 0o777 });
    fs.chmodSync(join(directory, "real"), 0o777);
    fs.symlinkSync("real", join(directory, "link"));

    expect(usableCacheFolder(fs, join(directory, "file", "sync"), ANN)).toBeUndefined();
    expect(usableCacheFolder(fs, join(directory, "link", "sync"), ANN)).toBeUndefined();
    expect(usableCacheFolder(fs, join(directory, "link"), ANN)).toBeUndefined();
  });
});

const flagsAfter = (execArgv: readonly string[]): readonly string[] => {
  const flags: string[] = [];
  keepHeapSmall(execArgv, (flag) => flags.push(flag));
  return flags;
};

test.each([[[]], [["--enable-source-maps", "--max-old-space-size=500"]]])(
  "the heap is kept small with the arguments %j of Node.js",
  (execArgv) => {
    expect(flagsAfter(execArgv)).toEqual(["--heap-growing-percent=70", "--semi-space-growth-factor=1"]);
  },
);

test.each([[packageJson.scripts.sync.split(" ")], [["--max-semi-space-size=64"]]])(
  "arguments of Node.js that say how large the heap may be stay as they are: %j",
  (execArgv) => {
    expect(flagsAfter(execArgv)).toEqual([]);
  },
);

test("V8 knows the flags", () => {
  const known = execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" });

  expect(flagsAfter([]).filter((flag) => !known.includes(`${flag.split("=")[0]} (`))).toEqual([]);
});
