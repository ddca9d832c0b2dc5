// Vitest's global set-up: one emulator of AWS for all test files, started when the first of them asks for it.

import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { EmulatorProcess, isInstalled } from "./emulator-process.ts";

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
