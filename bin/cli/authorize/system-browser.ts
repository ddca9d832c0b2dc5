// Opens an address in the person's browser, with the platform's own program for it.

import { spawn } from "node:child_process";

/** Long enough for a program that finds no browser to say so. */
const SETTLED_AFTER_MS = 2_000;

/** Resolves to false where no browser could be opened. Never throws. */
export type OpenBrowser = (address: string) => Promise<boolean>;

/** Started without a shell, so no character of the address has a meaning of its own. */
export function systemBrowser(platform: NodeJS.Platform): OpenBrowser {
  const [program, ...before] = OPENERS.get(platform) ?? ["xdg-open"];
  return (address) =>
    new Promise((resolve) => {
      // Detached: Ctrl-C ends this program and not the browser.
      const child = spawn(program, [...before, address], { detached: true, stdio: "ignore" });
      const timer = setTimeout(() => resolve(true), SETTLED_AFTER_MS).unref();
      const settle = (isOpen: boolean): void => {
        clearTimeout(timer);
        resolve(isOpen);
      };
      child.once("error", () => settle(false));
      child.once("exit", (code) => settle(code === 0));
      child.unref();
    });
}

const OPENERS: ReadonlyMap<NodeJS.Platform, readonly [string, ...string[]]> = new Map([
  ["darwin", ["open"]],
  ["win32", ["rundll32", "url.dll,FileProtocolHandler"]],
]);
