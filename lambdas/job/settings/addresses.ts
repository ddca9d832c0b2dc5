// The addresses of servers as people paste them, in their one canonical form. No message shows one that may hold a
// password.

import * as z from "zod";
import { isLoopback, parseUrl } from "../network/proxies.ts";

/**
 * The service, as text, without `/`, `/v1` or an endpoint (docs/service-interface.md §3) at the end of its path. Run
 * fingerprints contain it.
 */
export const baseUrl = server("https://api.example.com", ["/v1/auth/login", "/v1/events", "/v1", "/"]);

/** The identity provider, as text, without an endpoint (docs/service-interface.md §3.4 to §3.6) at the end. */
export const authUrl = server("https://login.example.com", [
  "/oauth/authorize",
  "/oauth/token",
  "/oauth",
  "/",
]);

/** Where a run posts how it ended, as the parser writes it. The whole URL is a secret: who has it may post there. */
export const notifyUrl = address(
  "expected an https: URL",
  () => false,
  (url) => {
    if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
      return "expected an https: URL, or one with http: to this computer";
    if (url.username !== "" || url.password !== "") return "expected a URL without a user name and password";
    return url.hash === "" ? undefined : "expected a URL without a fragment";
  },
);

/** The address in the `cdk.json` of this project, which stands for the user's own. */
const PLACEHOLDER = "https://api.example.com/";

/** @param canonical as the schema makes it */
export function isPlaceholder(canonical: string): boolean {
  return canonical === PLACEHOLDER;
}

/** @param example what an address looks like; @param pasted what people paste after the address, which is dropped */
function server(example: string, pasted: readonly string[]) {
  const absolute = `expected an absolute URL such as ${example}`;
  const isShown = (text: string): boolean => !/[@?#]/.test(text);
  return address(absolute, isShown, (url) => {
    if (url.protocol !== "https:" && url.protocol !== "http:") return absolute;
    if (url.username !== "" || url.password !== "") {
      return "expected a URL without a user name and password, which belong in the credentials";
    }
    if (url.search !== "" || url.hash !== "") return "expected a URL without a query or a fragment";
    if (url.protocol === "http:" && !isLoopback(url.hostname)) {
      return "expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only";
    }
    url.pathname = trimmed(url.pathname, pasted);
    return undefined;
  });
}

/**
 * A URL as the parser writes it.
 * @param isShown whether messages may repeat a text
 * @param check says what is wrong with the URL, and may change one that is right
 */
function address(
  expected: string,
  isShown: (text: string) => boolean,
  check: (url: URL) => string | undefined,
) {
  return z.string(expected).transform((text, context) => {
    const url = parseUrl(text.trim());
    const message = url === null ? expected : check(url);
    if (url !== null && message === undefined) return url.href;
    context.addIssue({ code: "custom", message, params: { isShown: isShown(text) } });
    return z.NEVER;
  });
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
