// The way without a browser on this machine: the person pastes the address that a browser elsewhere ended at.

import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Input, Terminal } from "../output/terminal.ts";
import type { AuthorizationRequest } from "./code-exchange.ts";
import { isAnswer, readAnswer, waitForAnswer } from "./read-answer.ts";

interface PasteAnswerOptions {
  readonly request: AuthorizationRequest;
  readonly input: Input;
  readonly terminal: Pick<Terminal, "lines">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/** The code. Throws the error of the answer; `CONFIG_INVALID` where the input ends without one. */
export async function pasteAnswer(options: PasteAnswerOptions): Promise<string> {
  const { request, input, terminal, clock, signal } = options;
  terminal.lines([
    "Open this address in any browser. Log in there, and allow the access:",
    request.address,
    `Then the browser goes to ${request.redirectUri}?code=… and may say that it cannot open the page. Copy that address from its address bar, paste it here, and press Enter. What you paste is not shown.`,
  ]);
  const answer = Promise.withResolvers<URLSearchParams>();
  const stop = new AbortController();
  // The terminal must not show a code, and cuts lines of more than 4,095 characters unless a program reads each key.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input, output, terminal: input.isTTY === true, historySize: 0 });
  reader.on("line", (line) => {
    const parameters = parametersOf(line.trim(), new URL(request.redirectUri));
    if (parameters) answer.resolve(parameters);
    else if (line.trim() !== "") {
      terminal.lines([
        `That is not the address that the browser ended at: it begins with ${request.redirectUri} and holds code= or error=. Paste it again.`,
      ]);
    }
  });
  reader.on("SIGINT", () => stop.abort());
  reader.on("close", () => answer.reject(new SyncError("CONFIG_INVALID", NO_ADDRESS)));
  try {
    const stopped = AbortSignal.any([signal, stop.signal]);
    return readAnswer(await waitForAnswer(answer.promise, clock, stopped), request.state);
  } finally {
    reader.close();
  }
}

const NO_ADDRESS =
  "Standard input ended before the address was pasted. Nothing was stored. Start authorize again, and paste the address that the browser ended at.";

/** Some browsers show an address without its scheme. */
function parametersOf(line: string, redirect: URL): URLSearchParams | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(line) ? line : `${redirect.protocol}//${line}`);
  const isOwn = url?.origin === redirect.origin && url.pathname === redirect.pathname;
  return isOwn && isAnswer(url.searchParams) ? url.searchParams : undefined;
}
