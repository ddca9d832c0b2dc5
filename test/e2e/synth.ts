// Synthesizes the app with settings of a test's own, as `cdk synth` does, into a directory of its own.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/**
 * @param flags further context, beside that of `cdk.json`.
 * Returns the cloud assembly's directory: outside the project, so that nothing of its `node_modules` is found from there.
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
