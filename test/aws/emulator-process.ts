// The emulator of AWS (moto) as a process: where it is installed, how it starts and ends; and Vitest's global set-up: one for
// all test files, started when the first of them asks for it.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";

/** Outside what git tracks, and outside what `npm ci` deletes. */
export const EMULATOR_DIRECTORY = fileURLToPath(new URL("../../.emulator", import.meta.url));
/** Written last: the text of the requirements that are installed. */
export const INSTALLED = join(EMULATOR_DIRECTORY, "installed.txt");
export const REQUIREMENTS = fileURLToPath(new URL("emulator-requirements.txt", import.meta.url));

const BIN = process.platform === "win32" ? "Scripts" : "bin";
export const PYTHON = join(EMULATOR_DIRECTORY, "venv", BIN, "python");

/** Ends with its parent, however that ends: then its standard input is closed. */
const SERVER = `
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from moto.server import main
main(["--host", "127.0.0.1", "--port", "0"])
`;

/** True if the installed versions are those of the requirements. */
export function isInstalled(): boolean {
  return existsSync(INSTALLED) && pinsOf(INSTALLED) === pinsOf(REQUIREMENTS);
}

/** Names and versions only: other hashes of the same files are no reason to install them again. */
function pinsOf(file: string): string {
  const pins = readFileSync(file, "utf8").match(/^[^\s#]+==\S+(?= ?\\?$)/gm) ?? [];
  return pins.sort().join("\n");
}

export class EmulatorProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(url: string, child: ChildProcess) {
    this.url = url;
    this.#child = child;
  }

  /**
   * On a free loopback port. Knows no real credentials.
   * @param prelude Python that is run first, to replace what the emulator has only with Docker.
   */
  static async start(prelude = ""): Promise<EmulatorProcess> {
    if (!isInstalled()) throw new Error("It is not installed: npm run setup:emulator");
    const { PATH = "" } = process.env;
    const child = spawn(PYTHON, ["-c", `${prelude}\n${SERVER}`], {
      env: { PATH, AWS_ACCESS_KEY_ID: "emulator", AWS_SECRET_ACCESS_KEY: "emulator" },
      stdio: ["pipe", "ignore", "pipe"],
    });
    const said: string[] = [];
    const lines = createInterface({ input: child.stderr });
    const url = await new Promise<string>((resolve, reject) => {
      child.once("error", reject);
      lines.once("close", () => reject(new Error(`the emulator has ended: ${said.join("\n")}`)));
      lines.on("line", (line) => {
        if (said.length < 50) said.push(line);
        const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
        if (address !== undefined) resolve(address);
      });
    });
    return new EmulatorProcess(url, child);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin?.end();
    await closed;
  }
}

declare module "vitest" {
  interface ProvidedContext {
    /** Responds with the emulator's address; empty if it is not installed. */
    readonly emulatorDesk: string;
  }
}

const NOT_INSTALLED =
  "The tests on an emulator of AWS are skipped, because it is not installed: npm run setup:emulator";

/** Test files run in processes of their own, so they ask over HTTP. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<EmulatorProcess> | undefined;
  let isMissed = false;
  const desk = createServer(async (_, response) => {
    if (!isInstalled() && process.env["CI"] !== "true") {
      isMissed = true;
      response.end();
      return;
    }
    started ??= EmulatorProcess.start();
    await started.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
  const address = desk.address();
  const port = typeof address === "object" ? address?.port : undefined;
  project.provide("emulatorDesk", `http://127.0.0.1:${port}`);
  return async () => {
    desk.close();
    desk.closeAllConnections();
    await started?.then((emulator) => emulator.stop()).catch(() => undefined);
    if (isMissed) process.stderr.write(`${NOT_INSTALLED}\n`);
  };
}
