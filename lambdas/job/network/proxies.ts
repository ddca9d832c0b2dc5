// Which proxy a request goes through, and whether its certificate is checked, by the usual variables of the environment.

import { SyncError } from "../errors/sync-error.ts";

/** The proxies as the environment has them, unchecked. */
export interface Proxies {
  readonly http: string | undefined;
  readonly https: string | undefined;
  /** Hosts that are reached directly: names or addresses, separated by commas or spaces. */
  readonly none: string | undefined;
  /** Whether Node.js is told to accept any certificate. */
  readonly acceptsAnyCertificate?: boolean;
}

/**
 * Reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. As with curl, the names in lower case win; an empty one is unset. And
 * `NODE_TLS_REJECT_UNAUTHORIZED`, of which Node.js knows one value.
 */
export function readProxies(environment: Readonly<Record<string, string | undefined>>): Proxies {
  const read = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  return {
    http: read("HTTP_PROXY"),
    https: read("HTTPS_PROXY"),
    none: read("NO_PROXY"),
    acceptsAnyCertificate: environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0",
  };
}

/** Every way to send a request begins with it. Throws `CONFIG_INVALID`. */
export function refuseAnyCertificate({ acceptsAnyCertificate = false }: Proxies): void {
  if (!acceptsAnyCertificate) return;
  const setting = "NODE_TLS_REJECT_UNAUTHORIZED";
  throw new SyncError(
    "CONFIG_INVALID",
    `The environment variable ${setting} is 0: any certificate would be accepted, so any computer on the way could read the credentials.`,
    {
      fields: { setting },
      next: "Remove it. If your network or the service uses a private certificate authority, set NODE_EXTRA_CA_CERTS to the path of its certificate (PEM).",
    },
  );
}

/** Undefined if the host is reached directly, as loopback always is. Throws `CONFIG_INVALID` for an unusable proxy. */
export function proxyFor(url: URL, proxies: Proxies): URL | undefined {
  refuseAnyCertificate(proxies);
  if (isLoopback(url.hostname) || directHosts(proxies).some((direct) => matches(direct, url)))
    return undefined;
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
  refuseAnyCertificate(proxies);
  const http = proxyUrl("HTTP_PROXY", proxies.http)?.href;
  const https = proxyUrl("HTTPS_PROXY", proxies.https)?.href;
  if (http === undefined && https === undefined) return undefined;
  const direct = directHosts(proxies).flatMap(agentForms);
  return {
    ...(http === undefined ? {} : { HTTP_PROXY: http }),
    ...(https === undefined ? {} : { HTTPS_PROXY: https }),
    NO_PROXY: ["localhost", "127.0.0.1-127.255.255.255", "[::1]", "::1", ...direct].join(","),
  };
}

/** A name stands for the host and for all below it, `*` for all hosts. */
interface DirectHost {
  /** The host that no proxy is used for, in its canonical form. */
  readonly host: string;
  /** Undefined for every port. */
  readonly port: string | undefined;
}

function directHosts({ none = "" }: Proxies): readonly DirectHost[] {
  return none
    .split(/[\s,]+/)
    .map((text) => text.replace(/^\*?\./, ""))
    .filter((text) => text !== "")
    .map((text) => {
      // The last number of an IPv6 address without brackets is no port.
      const [, host = text, port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(text) ?? [];
      return { host: canonicalHost(host), port };
    });
}

function matches({ host, port }: DirectHost, url: URL): boolean {
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  return (host === "*" && port === undefined) || url.hostname === host || url.hostname.endsWith(`.${host}`);
}

/** The agents are given an IPv6 address with brackets or without. */
function agentForms({ host, port }: DirectHost): readonly string[] {
  const forms = host.startsWith("[") ? [host, host.slice(1, -1)] : host === "*" ? [host] : [host, `.${host}`];
  return forms.map((form) => (port === undefined ? form : `${form}:${port}`));
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

/** Parses like `URL.parse`, and makes the host canonical. */
export function parseUrl(text: string, base?: string): URL | null {
  const url = URL.parse(text, base);
  if (url?.hostname.endsWith(".")) url.hostname = withoutDots(url.hostname);
  return url;
}

/** Of a host alone; an IPv6 address may lack its brackets. What is no host stays as it is. */
export function canonicalHost(text: string): string {
  const host = text.split(":").length > 2 && !text.startsWith("[") ? `[${text}]` : text;
  const isHost = /^(?:\[[^\]]*\]|[^:/?#@\\]+)$/.test(host);
  return (isHost && parseUrl(`http://${host}/`)?.hostname) || text.toLowerCase();
}

function withoutDots(hostname: string): string {
  let end = hostname.length;
  while (hostname[end - 1] === ".") end -= 1;
  return hostname.slice(0, end);
}

/** @param hostname as in a parsed URL: the parser turns forms such as 127.1 or 0x7f000001 into four decimal numbers */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
