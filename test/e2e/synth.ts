// Synthesizes the app with the settings of a test, as `cdk synth` does, into a new directory.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Template } from "./template.ts";

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * Returns the directory of the cloud assembly. It is outside the project, so that the bundle cannot import from the
 * project's `node_modules`.
 * @param flags context in addition to that of `cdk.json`.
 */
export async function synth(eventSync: object, flags: object = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "brand-events-synth-"));
  const { context } = JSON.parse(await readFile(root("cdk.json"), "utf8"));
  const child = spawn(process.execPath, [root("bin/app.ts")], {
    cwd: root("."),
    env: {
      ...process.env,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify({ ...context, ...flags, eventSync }),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`synth failed: ${Buffer.concat(errors).toString()}`);
  return directory;
}

/** The template alone, of a stack that is not run: nothing is bundled. */
export async function synthTemplate(eventSync: object): Promise<Template> {
  const directory = await synth(eventSync, { "aws:cdk:bundling-stacks": [] });
  try {
    return await Template.read(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}
