// Which proxy a request goes through, by the usual variables of the environment.

import { SyncError } from "../errors/sync-error.ts";

/** As the environment has them, unchecked. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Hosts that are reached directly: names or addresses, separated by commas or spaces. */
  readonly none: string | undefined;
}

/** Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. As with curl, the names in lower case win; an empty one is unset. */
export function readProxies(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const read = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  return { http: read("HTTP_PROXY"), https: read("HTTPS_PROXY"), none: read("NO_PROXY") };
}

/** Undefined if the host is reached directly, as loopback always is. Throws `CONFIG_INVALID` for an unusable proxy. */
export function proxyFor(url: URL, proxies: Proxies): URL | undefined {
  if (isLoopback(url.hostname) || directHosts(proxies).some((host) => matches(host, url))) return undefined;
  return url.protocol === "https:"
    ? proxyUrl("HTTPS_PROXY", proxies.https)
    : proxyUrl("HTTP_PROXY", proxies.http);
}

/**
 * The same rules for Node.js's own agents, which do not exempt loopback and take a plain name as that host alone.
 * Undefined without a proxy. Throws `CONFIG_INVALID`.
 */
export function agentProxies(
  proxies: Proxies,
): { readonly HTTP_PROXY?: string; readonly HTTPS_PROXY?: string; readonly NO_PROXY: string } | undefined {
  const http = proxyUrl("HTTP_PROXY", proxies.http)?.href;
  const https = proxyUrl("HTTPS_PROXY", proxies.https)?.href;
  if (http === undefined && https === undefined) return undefined;
  const direct = directHosts(proxies).flatMap((host) => (host === "*" ? [host] : [host, `.${host}`]));
  return {
    ...(http === undefined ? {} : { HTTP_PROXY: http }),
    ...(https === undefined ? {} : { HTTPS_PROXY: https }),
    NO_PROXY: ["localhost", "127.0.0.1-127.255.255.255", "[::1]", "::1", ...direct].join(","),
  };
}

/** In lower case, without a leading `*.` or `.`: a name stands for the host and for all below it. */
function directHosts({ none = "" }: Proxies): string[] {
  return none
    .toLowerCase()
    .split(/[\s,]+/)
    .map((host) => host.replace(/^\*?\./, ""))
    .filter((host) => host !== "");
}

/** @param direct `*`, or a host with or without a port */
function matches(direct: string, url: URL): boolean {
  if (direct === "*") return true;
  const [, host = "", port] = /^(.*?)(?::(\d+))?$/.exec(direct) ?? [];
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  return url.hostname === host || url.hostname.endsWith(`.${host}`);
}

/** The value is never repeated: it may hold a password. */
function proxyUrl(name: string, text: string | undefined): URL | undefined {
  if (text === undefined) return undefined;
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url !== null && isUsable(url)) return url;
  throw new SyncError(
    "CONFIG_INVALID",
    `The environment variable ${name} is not usable: it must be the address of an HTTP proxy, such as ` +
      "http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128, special characters percent-encoded.",
    { fields: { setting: name } },
  );
}

function isUsable({ protocol, username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return protocol === "http:" || protocol === "https:";
}

/** @param hostname as in a parsed URL: the parser turns forms such as 127.1 or 0x7f000001 into four decimal numbers */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
