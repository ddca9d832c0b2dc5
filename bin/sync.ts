// The entry point of the command line.

import { systemBrowser } from "./cli/authorize/system-browser.ts";
import { main } from "./cli/main.ts";
import { Terminal } from "./cli/output/terminal.ts";
import { stopSignals } from "./cli/wiring/stop-signals.ts";

process.exitCode = await main(process.argv.slice(2), process.env, {
  stdout: Terminal.in(process.env, process.stdout),
  stderr: Terminal.in(process.env, process.stderr),
  signal: stopSignals({ process, elapsedMs: () => performance.now() }),
  cwd: process.cwd(),
  stdin: () => process.stdin,
  openBrowser: systemBrowser(process.platform),
});
