// Records, in order, what the process that imports it does to the file system, in the file that its environment names.

import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import type { FileCall, Recorded } from "./disk.ts";

const file = process.env["POWER_LOSS_RECORD"] ?? "";
const write = fs.appendFileSync;
const lines: string[] = [];
let calls = 0;
let handles = 0;

const say = (line: Recorded): void => void lines.push(JSON.stringify(line));

/** Says what the program has reached: everything that it did until now should be on disk. */
export function reached(what: string): void {
  say({ kind: "reached", what });
}

async function recorded<T>(call: FileCall, work: () => Promise<T>): Promise<T> {
  calls += 1;
  const id = calls;
  say({ kind: "begin", id, call });
  try {
    const result = await work();
    say({ kind: "end", id, failed: false });
    return result;
  } catch (error) {
    say({ kind: "end", id, failed: true });
    throw error;
  }
}

const handleNumbers = new WeakMap<object, number>();
const numberOf = (handle: object): number => handleNumbers.get(handle) ?? 0;
const { open, link, rename, unlink, rm, mkdir, rmdir } = fs.promises;

/** A file in a folder that is open, by the folder's own path. */
function real(path: string): string {
  const [, folder, rest = ""] = /^(\/proc\/self\/fd\/\d+)(\/.*)?$/.exec(path) ?? [];
  return folder === undefined ? path : `${fs.readlinkSync(folder)}${rest}`;
}

const mayCreate = (flags: string | number): boolean =>
  typeof flags === "string" ? flags !== "r" : (flags & fs.constants.O_CREAT) !== 0;

const recording = {
  open: async (
    path: string,
    flags: string | number = "r",
    mode?: number,
  ): Promise<fs.promises.FileHandle> => {
    handles += 1;
    const handle = handles;
    const call = { name: "open", path: real(path), handle, mayCreate: mayCreate(flags) } as const;
    const opened = await recorded(call, () => open(path, flags, mode));
    handleNumbers.set(opened, handle);
    return opened;
  },
  link: (from: string, path: string) =>
    recorded({ name: "link", from: real(from), path: real(path) }, () => link(from, path)),
  rename: (from: string, path: string) =>
    recorded({ name: "rename", from: real(from), path: real(path) }, () => rename(from, path)),
  unlink: (path: string) => recorded({ name: "unlink", path: real(path) }, () => unlink(path)),
  rm: (path: string, options?: fs.RmOptions) =>
    recorded({ name: "unlink", path: real(path) }, () => rm(path, options)),
  rmdir: (path: string) => recorded({ name: "unlink", path: real(path) }, () => rmdir(path)),
  mkdir: (path: string, mode?: number) =>
    recorded({ name: "mkdir", path: real(path) }, () => mkdir(path, mode)),
};

/** Whatever else changes a file would go unseen. */
const refused = (...names: readonly string[]): Readonly<Record<string, () => never>> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      () => {
        throw new Error(`the record of the file system does not know ${name}`);
      },
    ]),
  );

const probe = await open(process.execPath, "r");
const ofHandles: fs.promises.FileHandle = Object.getPrototypeOf(probe);
await probe.close();
const { writeFile, sync } = ofHandles;
Object.assign(ofHandles, {
  writeFile(this: fs.promises.FileHandle, bytes: Uint8Array) {
    const base64 = Buffer.from(bytes).toString("base64");
    return recorded({ name: "write", handle: numberOf(this), base64 }, () => writeFile.call(this, bytes));
  },
  sync(this: fs.promises.FileHandle) {
    return recorded({ name: "sync", handle: numberOf(this) }, () => sync.call(this));
  },
  ...refused("appendFile", "createWriteStream", "datasync", "truncate", "write", "writev"),
});
Object.assign(
  fs.promises,
  recording,
  refused("appendFile", "copyFile", "cp", "mkdtemp", "symlink", "truncate", "writeFile"),
);
syncBuiltinESMExports();

process.on("exit", () => write(file, `${lines.join("\n")}\n`));
