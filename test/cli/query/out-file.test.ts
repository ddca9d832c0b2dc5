// The file of a result: a link of one's own is followed, one of another user is not.

import { lchown, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { writeOutFile } from "../../../bin/cli/query/out-file.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
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

    await writeOutFile(join(directory, path), options(OWN), (_, add) => add(["after"]));

    expect(await readFile(join(directory, "folder", "file.csv"), "utf8")).toBe("after");
    expect(await readFile(join(directory, path), "utf8")).toBe("after");
  });

  it("is refused where an own link leads to none, and the link stays", async () => {
    const directory = await withLinks();
    const path = join(directory, "broken.csv");

    const asked = writeOutFile(path, options(OWN), (_, add) => add(["after"]));

    await expect(asked).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(
        `${path} cannot be written: it is a link to a file that does not exist.`,
      ),
    });
    expect(await readlink(path)).toBe("folder/none.csv");
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
    const asked = writeOutFile(join(directory, path), options(OWN === 0 ? 0 : OWN + 1), (_, add) =>
      add(["after"]),
    );

    await expect(asked).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringContaining(`${join(directory, link)} is a link that another user made. Choose`),
    });
    expect(await readFile(join(directory, "folder", "file.csv"), "utf8")).toBe("before");
  });
});

test("a file that could not be written whole leaves the one before, and nothing beside it", async () => {
  const directory = await temporaryDirectory();
  await writeFile(join(directory, "x.csv"), "before");

  const asked = writeOutFile(join(directory, "x.csv"), options(OWN), async (_, add) => {
    await add(["half"]);
    throw new Error("the query failed");
  });

  await expect(asked).rejects.toThrow("the query failed");
  expect(await readdir(directory)).toEqual(["x.csv"]);
  expect(await readFile(join(directory, "x.csv"), "utf8")).toBe("before");
});

describe("what a killed process left beside the file", () => {
  it.each([
    { left: "of the same file, a day ago", of: (name: string) => name, days: 1, stays: false },
    { left: "of the same file, just now", of: (name: string) => name, days: 0, stays: true },
    { left: "of another file", of: (name: string) => name.replace(".x.csv", ".y.csv"), days: 1, stays: true },
    { left: "that the user named so", of: () => ".x.csv.tmp", days: 1, stays: true },
  ])("$left stays: $stays", async ({ of, days, stays }) => {
    const directory = await temporaryDirectory();
    const path = join(directory, "x.csv");
    let left = "";
    await writeOutFile(path, options(OWN), async (temporary) => {
      left = join(directory, of(basename(temporary)));
    });
    await writeFile(left, "rows");
    const leftAtMs = Date.now() - days * DAY_MS - 1_000;
    await utimes(left, leftAtMs / 1_000, leftAtMs / 1_000);

    await writeOutFile(path, options(OWN), (_, add) => add(["again"]));

    expect((await readdir(directory)).toSorted()).toEqual(
      [...(stays ? [basename(left)] : []), "x.csv"].toSorted(),
    );
  });
});
