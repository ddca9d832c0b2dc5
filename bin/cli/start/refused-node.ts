// Refuses a Node.js that is too old for this program, in words. This file runs on it.

/** As in `engines` of package.json. */
const NEEDED = [22, 21] as const;

/** A sentence for a person; undefined if the version will do. */
export function refusedNode(version: string, path: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return undefined;
  return `brand-events-sync needs Node.js ${NEEDED.join(".")} or newer, and ${path} is ${version}: install a newer one from https://nodejs.org and start again.`;
}
