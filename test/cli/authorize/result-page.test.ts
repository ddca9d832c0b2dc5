import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { resultPage, SAFE_HEADERS } from "../../../bin/cli/authorize/receive-answer.ts";

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
