// The addresses of servers as people paste them, in their one canonical form. No message shows one that may hold a
// password.

import * as z from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { isLoopback } from "../network/proxies.ts";

/**
 * The service, as text, without `/`, `/v1` or an endpoint (docs/service-interface.md §3) at the end of its path. Run
 * fingerprints contain it.
 */
export const baseUrl = serverUrl("https://api.example.com", ["/v1/auth/login", "/v1/events", "/v1", "/"]);

/** The identity provider, as text, without an endpoint (docs/service-interface.md §3.4 to §3.6) at the end. */
export const authUrl = serverUrl("https://login.example.com", [
  "/oauth/authorize",
  "/oauth/token",
  "/oauth",
  "/",
]);

/** Where a run posts how it ended, as the parser writes it. The whole URL is a secret: who has it may post there. */
export const notifyUrl = z.string("expected an https: URL").transform((text, context) => {
  const url = URL.parse(text.trim());
  const problem = notifyProblem(url);
  if (url !== null && problem === undefined) return url.href;
  context.addIssue({
    code: "custom",
    message: problem ?? "expected an https: URL",
    params: { isShown: false },
  });
  return z.NEVER;
});

/** The address in the `cdk.json` of this project, which stands for the user's own. */
const PLACEHOLDER = "https://api.example.com/";

/** @param canonical as the schema makes it */
export function isPlaceholder(canonical: string): boolean {
  return canonical === PLACEHOLDER;
}

/** Throws `CONFIG_INVALID`; the message never repeats the text, which may hold a password by mistake. */
export function parseBaseUrl(text: string): URL {
  return parsed(baseUrl, text, "The base URL");
}

/** As above. */
export function parseAuthUrl(text: string): URL {
  return parsed(authUrl, text, "The address of the identity provider");
}

function parsed(schema: z.ZodType<string>, text: string, title: string): URL {
  const { data, error } = schema.safeParse(text);
  if (data !== undefined) return new URL(data);
  const problem = error?.issues.map(({ message }) => message).join("; ");
  throw new SyncError("CONFIG_INVALID", `${title} is not usable: ${problem}.`);
}

/** @param example what an address looks like; @param pasted what people paste after the address, which is dropped */
function serverUrl(example: string, pasted: readonly string[]) {
  const absolute = `expected an absolute URL such as ${example}`;
  return z.string(absolute).transform((text, context) => {
    const url = URL.parse(text.trim());
    const problem = serverProblem(url, absolute);
    if (url !== null && problem === undefined) return canonical(url, pasted).href;
    context.addIssue({
      code: "custom",
      message: problem ?? absolute,
      params: { isShown: !/[@?#]/.test(text) },
    });
    return z.NEVER;
  });
}

function serverProblem(url: URL | null, absolute: string): string | undefined {
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

function notifyProblem(url: URL | null): string | undefined {
  if (url === null) return "expected an https: URL";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname)))
    return "expected an https: URL, or one with http: to this computer";
  if (url.username !== "" || url.password !== "") return "expected a URL without a user name and password";
  return url.hash === "" ? undefined : "expected a URL without a fragment";
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
