// `authorize` in a process of its own, up to the moment at which it waits for a person.

import { expect, onTestFinished } from "vitest";
import { type Started, type StartOptions, startSync } from "../command-line.ts";

/** `address` is the one that it prints. The process ends with the test at the latest. */
export async function startAuthorize(
  args: readonly string[],
  options: StartOptions,
): Promise<Started & { readonly address: string }> {
  const started = startSync(["authorize", "--no-browser", ...args], options);
  onTestFinished(() => void started.process.kill("SIGKILL"));
  let said = "";
  started.process.stderr?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  let hasEnded = false;
  started.process.once("exit", () => {
    hasEnded = true;
  });
  await expect.poll(() => hasEnded || said.includes("Ctrl-C stops."), { timeout: 20_000 }).toBe(true);
  return { ...started, address: printedAddress(said) };
}

/** Throws where a command has printed none. */
export function printedAddress(text: string): string {
  const [address] = /^http\S+authorize\?\S+$/m.exec(text) ?? [];
  if (address === undefined) throw new Error(`it prints no address: ${text}`);
  return address;
}
