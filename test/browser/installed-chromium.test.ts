import { chmod, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { installedChromium } from "./installed-chromium.ts";

test.skipIf(process.platform !== "linux")(
  "the first program in PATH by one of its names is the browser",
  async () => {
    const [one, other] = [await temporaryDirectory(), await temporaryDirectory()];
    await writeFile(join(one, "chromium"), "no program");
    await writeFile(join(other, "google-chrome"), "#!/bin/sh\n");
    await chmod(join(other, "google-chrome"), 0o755);

    expect(installedChromium(`${delimiter}${one}${delimiter}${other}`)).toBe(join(other, "google-chrome"));
    expect(installedChromium(one)).toBeUndefined();
  },
);
