// Before the program loads: refuses a Node.js that is too old for it, in words. This file runs on it.

/** The oldest Node.js, as in `engines` of package.json. */
const NEEDED = [22, 21] as const;

/** A sentence for a person; undefined if the version will do. */
export function refusedNode(version: string, path: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) return undefined;
  return `brand-events-sync needs Node.js ${NEEDED.join(".")} or newer, and ${path} is ${version}: install a newer one from https://nodejs.org and start again.`;
}

/** Only its garbage collection reads them, at each collection, so they may change while the program runs. */
const FLAGS = ["--heap-growing-percent=70", "--semi-space-growth-factor=1"] as const;

/** Called when the program is loaded: by then V8's young generation has grown as far as it may. */
export function keepHeapSmall(execArgv: readonly string[], setFlag: (flag: string) => void): void {
  if (execArgv.some((argument) => argument.includes("semi-space") || argument.includes("heap-growing")))
    return;
  for (const flag of FLAGS) setFlag(flag);
}
