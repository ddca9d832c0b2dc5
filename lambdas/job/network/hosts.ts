// Host names in their one canonical form: as the URL parser writes them (lower case, punycode, short IPv6), and without the
// dot at the end with which a name may say that it is complete (RFC 3986 §3.2.2).

/** As `URL.parse`, with a canonical host. */
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
