#!/usr/bin/env node
// The entry point of the command line. The rest loads after it, so that compiled code is kept from its first module on.

import fs from "node:fs";
import module from "node:module";
import { homedir } from "node:os";
import v8 from "node:v8";
import { compileCacheFolder, keepHeapSmall, refusedNode, usableCacheFolder } from "./cli/start/start.ts";

const refusal = refusedNode(process.versions.node, process.execPath);
if (refusal === undefined) {
  const folder = compileCacheFolder(process.platform, process.env, homedir());
  const cache = usableCacheFolder(fs, folder, process.getuid?.());
  if (cache !== undefined) module.enableCompileCache(cache);
  const { commandLine } = await import("./cli/main.ts");
  keepHeapSmall(process.execArgv, v8.setFlagsFromString);
  process.exitCode = await commandLine(process, () => performance.now());
} else {
  process.stderr.write(`${refusal}\n`);
  process.exitCode = 1;
}
