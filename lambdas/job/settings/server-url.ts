// The address of a server as people paste it, in its one canonical form.

import * as z from "zod";
import { isLoopback } from "../network/proxies.ts";

/** @param example what an address looks like; @param pasted what people paste after the address, which is dropped */
export function serverUrl(example: string, pasted: readonly string[]) {
  const absolute = `expected an absolute URL such as ${example}`;
  return z.string(absolute).transform((text, context) => {
    const url = URL.parse(text.trim());
    const problem = problemOf(url, absolute);
    if (url !== null && problem === undefined) return canonical(url, pasted).href;
    context.addIssue({
      code: "custom",
      message: problem ?? absolute,
      params: { isShown: !/[@?#]/.test(text) },
    });
    return z.NEVER;
  });
}

function problemOf(url: URL | null, absolute: string): string | undefined {
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return absolute;
  if (url.username !== "" || url.password !== "") {
    return "expected a URL without a user name and password, which belong in the credentials";
  }
  if (url.search !== "" || url.hash !== "") return "expected a URL without a query or a fragment";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only";
  }
  return undefined;
}

function canonical(url: URL, pasted: readonly string[]): URL {
  const base = new URL(url);
  base.pathname = trimmed(url.pathname, pasted);
  return base;
}

/** Without anything pasted at the end, so that the canonical form of a canonical form is itself. */
function trimmed(path: string, pasted: readonly string[]): string {
  // A regular expression for it would take quadratic time on a text of many slashes.
  let end = path.length;
  for (;;) {
    const found = pasted.find((text) => path.endsWith(text, end));
    if (found === undefined) return path.slice(0, end);
    end -= found.length;
  }
}
