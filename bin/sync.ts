#!/usr/bin/env node
// The entry point of the command line. The rest loads after it, on a Node.js that can run it.

import v8 from "node:v8";
import { keepHeapSmall, refusedNode } from "./cli/start.ts";

const refusal = refusedNode(process.versions.node, process.execPath);
if (refusal === undefined) {
  const { commandLine } = await import("./cli/main.ts");
  keepHeapSmall(process.execArgv, v8.setFlagsFromString);
  process.exitCode = await commandLine(process, () => performance.now());
  // DuckDB may work on for a minute where nothing stops it, and `exit` would wait for that; a signal does not.
  const endNow = (): boolean => process.removeAllListeners("SIGINT").kill(process.pid, "SIGINT");
  if (process.exitCode === 130) setTimeout(endNow, 500).unref();
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
