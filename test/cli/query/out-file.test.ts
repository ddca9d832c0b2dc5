// The file of a result: a link of one's own is followed, one of another user is not.

import { lchown, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
