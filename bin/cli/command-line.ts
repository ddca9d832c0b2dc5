// The command line of a process: its arguments, environment, streams and signals.

import { systemBrowser } from "./authorize/system-browser.ts";
import { main } from "./main.ts";
import { Terminal } from "./output/terminal.ts";
import { stopSignals } from "./wiring/this-process.ts";

export interface CommandLineOptions {
  readonly process: NodeJS.Process;
  readonly elapsedMs: () => number;
}

/** Returns the exit code. */
export function commandLine({ process, elapsedMs }: CommandLineOptions): Promise<number> {
  const { env, stdout, stderr } = process;
  return main(process.argv.slice(2), env, {
    stdout: Terminal.in(env, stdout),
    stderr: Terminal.in(env, stderr),
    signal: stopSignals({ process, elapsedMs }),
    cwd: process.cwd(),
    stdin: () => process.stdin,
    openBrowser: systemBrowser(process.platform),
  });
}
