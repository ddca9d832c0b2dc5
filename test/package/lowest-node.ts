// The oldest Node.js that the package allows, from npm, to the byte.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export const LOWEST_NODE = "22.21.0";

/** Of the packages of the platforms that have this version. */
const INTEGRITY: Readonly<Record<string, string>> = {
  "linux-arm64":
    "sha512-RIKdf+QjeJhwpZtsDHCcPXWOMxCvTnbTFCMqtstCZUScVVQ2WfHLjviK19oaPeL0n/JEo3FXGsbDgdW52TqUsw==",
  "linux-x64":
    "sha512-zDkVW/xqAEQu19ra2kjSOyDjxl0oOMEm0hkkMfy8w18ih5g3eAtVH5U/3uMHEPtJdUUQNwzhKjUOFg2QWL1Z+w==",
};

const PLATFORM = `${process.platform}-${process.arch}`;

/** Whether npm has it for this platform. */
export const HAS_LOWEST_NODE: boolean = PLATFORM in INTEGRITY;

export interface LowestNode extends AsyncDisposable {
  /** A folder for PATH. */
  readonly bin: string;
}

export async function installLowestNode(): Promise<LowestNode> {
  const folder = await mkdtemp(join(tmpdir(), "brand-events-node-"));
  const name = `node-${PLATFORM}`;
  const root = { name: "lowest-node", version: "1.0.0", dependencies: { [name]: LOWEST_NODE } };
  const lock = {
    ...root,
    lockfileVersion: 3,
    packages: {
      "": root,
      [`node_modules/${name}`]: { version: LOWEST_NODE, integrity: INTEGRITY[PLATFORM] },
    },
  };
  await writeFile(join(folder, "package.json"), JSON.stringify(root));
  await writeFile(join(folder, "package-lock.json"), JSON.stringify(lock));
  const options = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
  await promisify(execFile)("npm", ["ci", ...options], { cwd: folder });
  return {
    bin: join(folder, "node_modules", name, "bin"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
