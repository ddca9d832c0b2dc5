// The entry point of the command line.

import { main } from "./cli/main.ts";
import { Terminal } from "./cli/output/terminal.ts";
import { stopSignals } from "./cli/wiring/stop-signals.ts";

process.exitCode = await main(process.argv.slice(2), process.env, {
  stdout: new Terminal(process.stdout),
  stderr: new Terminal(process.stderr),
  signal: stopSignals({ process, elapsedMs: () => performance.now() }),
  cwd: process.cwd(),
});
