// The browser of a person: how it is opened, and the page that it gets in the end.

import { createHash } from "node:crypto";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { resultPage, SAFE_HEADERS, systemBrowser } from "../../../bin/cli/authorize/receive-answer.ts";
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

const body = resultPage({
  kind: "failed",
  title: `<script>alert("1")</script>`,
  paragraphs: ["a & b", `</p><img src=x onerror='x'>`],
});

test("texts are escaped", () => {
  expect(body).toContain("<h1>&#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62;</h1>");
  expect(body).toContain("<p>a &#38; b</p>");
  expect(body).not.toMatch(/<(?:script|img)/);
});

test("nothing is loaded, run, framed, stored or told to another page", () => {
  const style = /<style>([^<]*)<\/style>/.exec(body)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");

  expect(SAFE_HEADERS).toEqual({
    "cache-control": "no-store",
    "content-security-policy": `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  const tags = [...body.matchAll(/<(\w+)/g)].map(([, tag]) => tag);
  expect([...new Set(tags)].toSorted()).toEqual([
    "body",
    "h1",
    "head",
    "html",
    "main",
    "meta",
    "p",
    "style",
    "title",
  ]);
});

test("it is light and dark, and as wide as the screen", () => {
  expect(body).toContain("color-scheme: light dark");
  expect(body).toContain("prefers-color-scheme: dark");
  expect(body).toContain('name="viewport"');
});
