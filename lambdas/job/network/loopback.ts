// Whether a host is this machine itself.

/** @param hostname as in a parsed URL: the parser turns forms such as 127.1 or 0x7f000001 into four decimal numbers */
export function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
