// What a browser does that is sent to an address. `fetch` says in its headers that a script asks.

import { once } from "node:events";
import { type IncomingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";

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
