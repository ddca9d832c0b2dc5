// The file of a result: a link of one's own is followed, one of another user is not.

import { lchown, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { OutFile } from "../../../bin/cli/query/out-file.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const OWN = process.getuid?.() ?? 0;
const options = (user: number) => ({ warehouse: undefined, failure: "QUERY_FAILED", user }) as const;

describe.skipIf(process.platform === "win32")("the file of a result", () => {
  async function withLinks(): Promise<string> {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "folder"));
    await writeFile(join(directory, "folder", "file.csv"), "before");
    await symlink("folder/file.csv", join(directory, "link.csv"));
    await symlink("link.csv", join(directory, "chain.csv"));
    await symlink("folder", join(directory, "linked"));
    await symlink("folder/none.csv", join(directory, "broken.csv"));
    return directory;
  }

  it.each(["link.csv", "chain.csv", "linked/file.csv"])("is what an own link names: %s", async (path) => {
    const directory = await withLinks();

    const file = await OutFile.in(join(directory, path), options(OWN));
    await file.add(["after"]);
    await file.keep();

    expect(await readFile(join(directory, "folder", "file.csv"), "utf8")).toBe("after");
    expect(await readFile(join(directory, path), "utf8")).toBe("after");
  });

  it.each([
    { path: "link.csv", link: "link.csv" },
    { path: "chain.csv", link: "chain.csv" },
    { path: "linked/file.csv", link: "linked" },
    { path: "linked/new.csv", link: "linked" },
    { path: "broken.csv", link: "broken.csv" },
  ])("is refused where another user's link leads to it: $path", async ({ path, link }) => {
    const directory = await withLinks();

    // Only root can give a link away; to anybody else the own links are those of another user.
    if (OWN === 0) await lchown(join(directory, link), 12345, 12345);
    const asked = OutFile.in(join(directory, path), options(OWN === 0 ? 0 : OWN + 1));

    await expect(asked).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${join(directory, link)} is a link that another user made. Choose`),
    });
    expect(await readFile(join(directory, "folder", "file.csv"), "utf8")).toBe("before");
  });
});

describe("what a killed process left beside the file", () => {
  const GONE_PID = "999999999";
  const isLinux = process.platform === "linux";

  it.each([
    {
      left: "of a process that is gone",
      of: (name: string) => name.replace(String(process.pid), GONE_PID),
      stays: !isLinux,
    },
    { left: "of a process that works", of: (name: string) => name, stays: true },
    {
      left: "of another computer",
      of: (name: string) => name.replace(/[0-9a-f]{8}-\d+/, `00000000-${GONE_PID}`),
      stays: true,
    },
    {
      left: "of another file",
      of: (name: string) => name.replace(".x.csv", ".y.csv").replace(String(process.pid), GONE_PID),
      stays: true,
    },
    { left: "that the user named so", of: () => ".x.csv.tmp", stays: true },
  ])("$left stays: $stays", async ({ of, stays }) => {
    const directory = await temporaryDirectory();
    const { temporary } = await OutFile.in(join(directory, "x.csv"), options(OWN));
    const left = join(directory, of(basename(temporary)));
    await rename(temporary, left);

    const file = await OutFile.in(join(directory, "x.csv"), options(OWN));
    await file.discard();

    expect(await readdir(directory)).toEqual(stays ? [basename(left)] : []);
  });

  it("is removed after a day, wherever it came from", async () => {
    const directory = await temporaryDirectory();
    const left = join(directory, `.x.csv.00000000-${GONE_PID}--00000000.tmp`);
    await writeFile(left, "rows");
    await utimes(left, 0, 0);

    await (await OutFile.in(join(directory, "x.csv"), options(OWN))).discard();

    expect(await readdir(directory)).toEqual([]);
  });
});
