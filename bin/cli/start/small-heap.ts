// Has V8 collect garbage earlier, where the command line of Node.js does not say how: a run then needs half of the memory.

/** Only its garbage collection reads them, at each collection, so they may change while the program runs. */
const FLAGS = ["--heap-growing-percent=70", "--semi-space-growth-factor=1"] as const;

/** Called when the program is loaded: by then V8's young generation has grown as far as it may. */
export function keepHeapSmall(execArgv: readonly string[], setFlag: (flag: string) => void): void {
  if (execArgv.some((argument) => argument.includes("semi-space") || argument.includes("heap-growing")))
    return;
  for (const flag of FLAGS) setFlag(flag);
}
