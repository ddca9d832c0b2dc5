// The address of the service as people paste it, in its one canonical form.

import { SyncError } from "../errors/sync-error.ts";
import { serverUrl } from "./server-url.ts";

/** The address in the `cdk.json` of this project, which stands for the user's own. */
const PLACEHOLDER = "https://api.example.com/";

/** What people paste after the base: the beginning or the whole of an endpoint (docs/service-interface.md §3). */
const PASTED = ["/v1/auth/login", "/v1/events", "/v1", "/"];

/** The URL as text, without `/`, `/v1` or an endpoint at the end of its path. Run fingerprints contain it. */
export const baseUrl = serverUrl("https://api.example.com", PASTED);

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
