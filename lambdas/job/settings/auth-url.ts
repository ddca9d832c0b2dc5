// The address of the identity provider that OAuth needs, in its one canonical form.

import { SyncError } from "../errors/sync-error.ts";
import { serverUrl } from "./server-url.ts";

/** What people paste after the address: the endpoints below it (docs/service-interface.md §3.4 to §3.6). */
const PASTED = ["/oauth/authorize", "/oauth/token", "/oauth", "/"];

/** The URL as text, without an endpoint at the end of its path. */
export const authUrl = serverUrl("https://login.example.com", PASTED);

/** Throws `CONFIG_INVALID`; the message never repeats the text, which may hold a password by mistake. */
export function parseAuthUrl(text: string): URL {
  const { data, error } = authUrl.safeParse(text);
  if (data !== undefined) return new URL(data);
  const problem = error.issues.map(({ message }) => message).join("; ");
  throw new SyncError("CONFIG_INVALID", `The address of the identity provider is not usable: ${problem}.`);
}
