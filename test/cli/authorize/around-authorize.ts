// What `authorize` needs around it: an identity provider, an address where it can listen, a process that waits for a person, and what a browser does
// that is sent to an address.

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished } from "vitest";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import { type Started, type StartOptions, startSync } from "../command-line.ts";

/** A folder with the credentials of a client whose answers come to this machine; the provider ends with the test. */
export async function authorizing(
  file: string,
  ...elsewhere: readonly string[]
): Promise<{ readonly cwd: string; readonly redirectUri: string; readonly provider: IdentityProvider }> {
  const cwd = await temporaryDirectory();
  const redirectUri = await freeRedirectUri();
  const provider = await IdentityProvider.start({ client: { redirectUris: [redirectUri, ...elsewhere] } });
  onTestFinished(() => provider.stop());
  await writeFile(join(cwd, file), JSON.stringify(provider.credentials), { mode: 0o600 });
  return { cwd, redirectUri, provider };
}

/** `address` is the one that it prints. The process ends with the test at the latest. */
export async function startAuthorize(
  args: readonly string[],
  options: StartOptions,
): Promise<Started & { readonly address: string }> {
  const started = startSync(["authorize", "--no-browser", ...args], options);
  onTestFinished(() => void started.process.kill("SIGKILL"));
  let said = "";
  started.process.stderr?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  let hasEnded = false;
  started.process.once("exit", () => {
    hasEnded = true;
  });
  await expect.poll(() => hasEnded || said.includes("Ctrl-C stops."), { timeout: 20_000 }).toBe(true);
  return { ...started, address: printedAddress(said) };
}

/** Throws where a command has printed none. */
export function printedAddress(text: string): string {
  const [address] = /^http\S+authorize\?\S+$/m.exec(text) ?? [];
  if (address === undefined) throw new Error(`it prints no address: ${text}`);
  return address;
}

/** With a port of this machine that is free now. */
export async function freeRedirectUri(path = "/callback"): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}${path}`;
}

/** Of a page that another site sends the browser to. */
export const NAVIGATION = {
  "sec-fetch-site": "cross-site",
  "sec-fetch-mode": "navigate",
  "sec-fetch-dest": "document",
};

export interface Visited {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export async function ask(
  url: string,
  { headers = NAVIGATION, method = "GET" }: { readonly headers?: object; readonly method?: string } = {},
): Promise<Visited> {
  const sent = request(url, { method, headers: { ...headers }, agent: false }).end();
  const [response] = await once(sent, "response");
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Follows redirects. */
export async function visit(address: string): Promise<string> {
  const { headers, body } = await ask(address);
  return headers.location === undefined ? body : visit(new URL(headers.location, address).href);
}
