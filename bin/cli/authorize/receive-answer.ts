// The way with a browser on this machine: listens on the redirect address, and shows the person how it ended.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { codeOf, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import { Html, html, policyOf } from "../output/html.ts";
import type { Terminal } from "../output/terminal.ts";
import type { AuthorizationRequest } from "./code-exchange.ts";
import { isAnswer, judgeAnswers, readAnswer, waitForAnswer } from "./read-answer.ts";

/** An answer is an address: far shorter than the headers that Node accepts by default. */
const MAX_HEADER_BYTES = 16_384;

/** A browser asks for the page at once; one that was closed never does. */
const SHOW_MS = 5_000;

interface ReceiveAnswerOptions {
  readonly request: AuthorizationRequest;
  /** Undefined: the person opens the address. */
  readonly openBrowser: OpenBrowser | undefined;
  readonly terminal: Pick<Terminal, "lines">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/**
 * Throws the error of the answer or of `exchange`, after the page has told it; `AUTHORIZATION_EXPIRED` after ten minutes;
 * `CONFIG_INVALID` where the redirect address is taken.
 *
 * The answer's request waits until the outcome is known. Then the browser is sent on to an address without code and state,
 * so that neither stays in its history.
 * @param exchange makes tokens of the code and stores them
 */
export async function receiveAnswer(
  options: ReceiveAnswerOptions,
  exchange: (code: string) => Promise<void>,
): Promise<void> {
  const { request, terminal } = options;
  const { state } = request;
  const redirect = new URL(request.redirectUri);
  const resultPath = `${redirect.pathname.replace(/\/$/, "")}/done`;
  const over = new AbortController();
  const judge = judgeAnswers({ state, terminal, over: over.signal });
  const answer = Promise.withResolvers<URLSearchParams>();
  const ended = Promise.withResolvers<void>();
  const shown = Promise.withResolvers<void>();
  let result: PageText | undefined;

  const respond = async (
    { method, url = "", headers }: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> => {
    const target = URL.parse(url, redirect.origin);
    const isOwn = method === "GET" && target !== null && headers.host === redirect.host;
    if (isOwn && target.pathname === redirect.pathname && isAnswer(target.searchParams)) {
      const refusal = judge(target.searchParams, headers);
      if (refusal !== undefined) return sendPage(response, 403, refusedPage(refusal));
      answer.resolve(target.searchParams);
      await ended.promise;
      response.writeHead(303, { ...SAFE_HEADERS, location: resultPath, "content-length": "0" }).end();
    } else if (isOwn && target.pathname === resultPath && result !== undefined) {
      response.once("close", () => shown.resolve());
      sendPage(response, 200, result);
    } else {
      response
        .writeHead(404, { ...SAFE_HEADERS, "content-type": "text/plain; charset=utf-8", connection: "close" })
        .end("There is nothing here. The identity provider's answer is expected at another address.\n");
    }
  };
  const show = async (page: PageText): Promise<void> => {
    result = page;
    ended.resolve();
    const stop = AbortSignal.any([options.signal, over.signal]);
    await Promise.race([shown.promise, options.clock.sleep(SHOW_MS, stop).catch(() => undefined)]);
  };

  const servers = await listen(redirect, (message, response) => void respond(message, response));
  try {
    announce(options);
    const parameters = await waitForAnswer(answer.promise, options.clock, options.signal);
    try {
      await exchange(readAnswer(parameters, state));
    } catch (error) {
      await show(failurePage(error));
      throw error;
    }
    terminal.lines(["The identity provider has answered."]);
    await show(DONE_PAGE);
  } finally {
    over.abort();
    await closed(servers);
  }
}

/** Throws `CONFIG_INVALID` where the address is taken. */
async function listen(
  redirect: URL,
  respond: (message: IncomingMessage, response: ServerResponse) => void,
): Promise<readonly Server[]> {
  const { hostname, port } = redirect;
  // A browser tries both addresses of this name, and another program must not hold one of them.
  const hosts = hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname.replace(/^\[(.*)\]$/, "$1")];
  const servers: Server[] = [];
  try {
    for (const host of hosts) {
      const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, respond);
      server.listen({ host, port: port === "" ? 80 : Number(port) });
      const isOptional = host !== hosts[0];
      if (await isListening(server, isOptional)) servers.push(server);
    }
    return servers;
  } catch (error) {
    await closed(servers);
    throw notListening(redirect, error);
  }
}

async function closed(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(async (server) => {
      const end = once(server, "close");
      server.close();
      server.closeAllConnections();
      await end;
    }),
  );
}

/** False where this machine does not have the address at all, and can do without it. */
async function isListening(server: Server, isOptional: boolean): Promise<boolean> {
  try {
    await once(server, "listening");
    return true;
  } catch (error) {
    if (isOptional && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

function notListening(redirect: URL, error: unknown): SyncError {
  const code = codeOf(error) ?? "unknown error";
  const why =
    code === "EADDRINUSE"
      ? "another program listens there. End it (another authorize may still wait)"
      : code === "EACCES"
        ? "this user may not listen on so low a port"
        : `the system refuses it (${code})`;
  return new SyncError(
    "CONFIG_INVALID",
    `The answer cannot be received at ${redirect.href}: ${why}. Or give --redirect-uri with another address that the operator of the service has registered, or add --paste, which needs no port.`,
    { fields: { errno: code } },
  );
}

function sendPage(response: ServerResponse, status: number, page: PageText): void {
  response
    .writeHead(status, { ...SAFE_HEADERS, "content-type": "text/html; charset=utf-8", connection: "close" })
    .end(resultPage(page));
}

function announce({ request, openBrowser, terminal }: ReceiveAnswerOptions): void {
  terminal.lines([
    openBrowser
      ? "Your browser opens this address. Log in there, and allow the access:"
      : "Open this address in a browser on this machine. Log in there, and allow the access:",
    request.address,
    `Waiting up to ten minutes for the answer at ${request.redirectUri}. Ctrl-C stops.`,
  ]);
  void openBrowser?.(request.address).then((isOpen) => {
    if (!isOpen) terminal.lines(["No browser could be opened. Open the address above yourself."]);
  });
}

const DONE_PAGE: PageText = {
  kind: "done",
  title: "Access is authorized",
  paragraphs: ["The tokens are stored. You can close this page and return to the terminal."],
};

function failurePage(error: unknown): PageText {
  const { code, message } =
    error instanceof SyncError
      ? error
      : { code: "Unexpected error", message: "The terminal shows what is known about it." };
  return {
    kind: "failed",
    title: "Access is not authorized",
    paragraphs: [message, `Code: ${code}. The terminal says the same. You can close this page.`],
  };
}

function refusedPage(why: string): PageText {
  return { kind: "failed", title: "This is not the expected answer", paragraphs: [why] };
}

interface PageText {
  readonly kind: "done" | "failed";
  readonly title: string;
  readonly paragraphs: readonly string[];
}

const STYLE = `
:root { color-scheme: light dark; --paper: #f6f7f9; --card: #fff; --text: #1b1f24; --quiet: #57606a; --edge: #d0d7de; --mark: #1a7f37; }
.failed { --mark: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --card: #161b22; --text: #e6edf3; --quiet: #9da7b3; --edge: #30363d; --mark: #3fb950; }
  .failed { --mark: #ff7b72; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--paper); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 34rem; padding: 1.5rem; background: var(--card); border: 1px solid var(--edge); border-top: 4px solid var(--mark); border-radius: .5rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.3; color: var(--mark); }
p { margin: .75rem 0 0; }
.program { margin: 0 0 .5rem; color: var(--quiet); font-size: .875rem; }
`;

/** The headers of every response of the listener. */
export const SAFE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": `${policyOf(STYLE)}; frame-ancestors 'none'`,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export function resultPage({ kind, title, paragraphs }: PageText): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body class="${kind}">
<main>
<p class="program">brand-events-sync</p>
<h1>${title}</h1>
${paragraphs.map((text) => html`<p>${text}</p>\n`)}</main>
</body>
</html>
`.text;
}

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
