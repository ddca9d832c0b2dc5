import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemBrowser } from "../../../bin/cli/authorize/receive-answer.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";

const ADDRESS = "https://login.example/oauth/authorize?a=1&b='%22$(id)";
const path = process.env["PATH"];

let folder: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  process.env["PATH"] = `${folder}${delimiter}/bin`;
});
afterEach(() => {
  process.env["PATH"] = path;
});

async function program(name: string, lines: string): Promise<void> {
  await writeFile(join(folder, name), `#!/bin/sh\n${lines}\n`);
  await chmod(join(folder, name), 0o755);
}

describe.skipIf(process.platform === "win32")("the browser", () => {
  test.each([
    ["linux", "xdg-open", `[ "$#" = 1 ] && printf %s "$1"`],
    ["darwin", "open", `[ "$#" = 1 ] && printf %s "$1"`],
    ["win32", "rundll32", `[ "$1" = url.dll,FileProtocolHandler ] && printf %s "$2"`],
  ] as const)("on %s is opened by %s, which gets the address as it is", async (platform, name, lines) => {
    await program(name, `${lines} > ${folder}/seen`);

    expect(await systemBrowser(platform)(ADDRESS)).toBe(true);

    expect(await readFile(join(folder, "seen"), "utf8")).toBe(ADDRESS);
  });

  test("is not open where its program fails or does not exist", async () => {
    expect(await systemBrowser("linux")(ADDRESS)).toBe(false);
    await program("xdg-open", "exit 3");
    expect(await systemBrowser("linux")(ADDRESS)).toBe(false);
  });
});
