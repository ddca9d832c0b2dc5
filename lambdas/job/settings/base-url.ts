// The address of the service as people paste it, in its one canonical form.

import { z } from "zod";
import { SyncError } from "../errors/sync-error.ts";
import { isLoopback } from "../network/loopback.ts";

/** The address in the `cdk.json` of this project, which stands for the user's own. */
const PLACEHOLDER = "https://api.example.com/";

const ABSOLUTE = "expected an absolute URL such as https://api.example.com";

/** The URL as text, without `/`, `/v1` or an endpoint at the end of its path. Run fingerprints contain it. */
export const baseUrl = z.string(ABSOLUTE).transform((text, context) => {
  const url = URL.parse(text.trim());
  const problem = problemOf(url);
  if (url !== null && problem === undefined) return canonical(url).href;
  context.addIssue({
    code: "custom",
    message: problem ?? ABSOLUTE,
    params: { isShown: !/[@?#]/.test(text) },
  });
  return z.NEVER;
});

/** @param canonical as the schema makes it */
export function isPlaceholder(canonical: string): boolean {
  return canonical === PLACEHOLDER;
}

/** Throws `CONFIG_INVALID`; the message never repeats the text, which may hold a password by mistake. */
export function parseBaseUrl(text: string): URL {
  const { data, error } = baseUrl.safeParse(text);
  if (data !== undefined) return new URL(data);
  const problem = error.issues.map(({ message }) => message).join("; ");
  throw new SyncError("CONFIG_INVALID", `The base URL is not usable: ${problem}.`);
}

function problemOf(url: URL | null): string | undefined {
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return ABSOLUTE;
  if (url.username !== "" || url.password !== "") {
    return "expected a URL without a user name and password, which belong in the credentials";
  }
  if (url.search !== "" || url.hash !== "") return "expected a URL without a query or a fragment";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    return "expected https:, because http: sends the credentials in clear text and is accepted for loopback hosts only";
  }
  return undefined;
}

function canonical(url: URL): URL {
  const base = new URL(url);
  base.pathname = trimmed(url.pathname);
  return base;
}

/** What people paste after the base: the beginning or the whole of an endpoint (docs/service-interface.md §3). */
const PASTED = ["/v1/auth/login", "/v1/events", "/v1", "/"];

/** Without anything pasted at the end, so that the canonical form of a canonical form is itself. */
function trimmed(path: string): string {
  // A regular expression for it would take quadratic time on a text of many slashes.
  let end = path.length;
  for (;;) {
    const pasted = PASTED.find((text) => path.endsWith(text, end));
    if (pasted === undefined) return path.slice(0, end);
    end -= pasted.length;
  }
}
