// Listens on the redirect address for the identity provider's answer, and shows the person how it ended.

import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isAnswer } from "./read-answer.ts";

/** An answer is an address: far shorter than the headers that Node accepts by default. */
const MAX_HEADER_BYTES = 16_384;

/** Undefined for the awaited answer; else the page that says why it is not. */
export type Judge = (
  parameters: URLSearchParams,
  headers: IncomingHttpHeaders,
) => Promise<PageText | undefined>;

/**
 * The answer's request waits until the outcome is known. Then the browser is sent on to an address without code and state,
 * so that neither stays in its history.
 */
export class CallbackListener {
  readonly #redirect: URL;
  readonly #judge: Judge;
  readonly #resultPath: string;
  readonly #answer = Promise.withResolvers<URLSearchParams>();
  readonly #shown = Promise.withResolvers<void>();
  #servers: readonly Server[] = [];
  #waiting: ServerResponse[] = [];
  #result: PageText | undefined;

  private constructor(redirectUri: string, judge: Judge) {
    this.#redirect = new URL(redirectUri);
    this.#judge = judge;
    this.#resultPath = `${this.#redirect.pathname.replace(/\/$/, "")}/done`;
  }

  /** Throws `CONFIG_INVALID` where the address is taken. */
  static async start(redirectUri: string, judge: Judge): Promise<CallbackListener> {
    const listener = new CallbackListener(redirectUri, judge);
    await listener.#listen();
    return listener;
  }

  /** The parameters of the awaited answer. */
  get answer(): Promise<URLSearchParams> {
    return this.#answer.promise;
  }

  /** Sends the browser to the page; resolves when it has the page. */
  async show(result: PageText): Promise<void> {
    this.#result = result;
    for (const response of this.#waiting) this.#sendOn(response);
    this.#waiting = [];
    await this.#shown.promise;
  }

  async close(): Promise<void> {
    await Promise.all(
      this.#servers.map(async (server) => {
        const closed = once(server, "close");
        server.close();
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  async #listen(): Promise<void> {
    const { hostname, port } = this.#redirect;
    // A browser tries both addresses of this name, and another program must not hold one of them.
    const hosts = hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname.replace(/^\[(.*)\]$/, "$1")];
    try {
      for (const host of hosts) {
        const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (message, response) =>
          this.#handle(message, response),
        );
        server.listen({ host, port: port === "" ? 80 : Number(port) });
        const isOptional = host !== hosts[0];
        if (await isListening(server, isOptional)) this.#servers = [...this.#servers, server];
      }
    } catch (error) {
      await this.close();
      throw notListening(this.#redirect, error);
    }
  }

  #handle({ method, url = "", headers }: IncomingMessage, response: ServerResponse): void {
    const target = URL.parse(url, this.#redirect.origin);
    const isOwn = method === "GET" && target !== null && headers.host === this.#redirect.host;
    if (isOwn && target.pathname === this.#redirect.pathname && isAnswer(target.searchParams)) {
      void this.#judge(target.searchParams, headers).then((refusal) =>
        this.#take(target.searchParams, response, refusal),
      );
      return;
    }
    if (isOwn && target.pathname === this.#resultPath && this.#result !== undefined) {
      response.once("close", () => this.#shown.resolve());
      sendPage(response, 200, this.#result);
      return;
    }
    response
      .writeHead(404, { ...SAFE_HEADERS, "content-type": "text/plain; charset=utf-8", connection: "close" })
      .end("There is nothing here. The identity provider's answer is expected at another address.\n");
  }

  #take(parameters: URLSearchParams, response: ServerResponse, refusal: PageText | undefined): void {
    if (refusal) sendPage(response, 403, refusal);
    else if (this.#result === undefined) this.#waiting.push(response);
    else this.#sendOn(response);
    if (!refusal) this.#answer.resolve(parameters);
  }

  #sendOn(response: ServerResponse): void {
    response.writeHead(303, { ...SAFE_HEADERS, location: this.#resultPath, "content-length": "0" }).end();
  }
}

function sendPage(response: ServerResponse, status: number, text: PageText): void {
  const { headers, body } = resultPage(text);
  response.writeHead(status, { ...headers, connection: "close" }).end(body);
}

/** False where this machine does not have the address at all, and can do without it. */
async function isListening(server: Server, isOptional: boolean): Promise<boolean> {
  try {
    await once(server, "listening");
    return true;
  } catch (error) {
    if (isOptional && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(codeOf(error))) return false;
    throw error;
  }
}

function notListening(redirect: URL, error: unknown): SyncError {
  const code = codeOf(error);
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

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

/** The page that the person sees at the end, in the browser: what happened, and what to do next. */
export interface PageText {
  readonly kind: "done" | "failed";
  readonly title: string;
  readonly paragraphs: readonly string[];
}

interface ResultPage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
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

/** Nothing is loaded and nothing runs: the one style sheet is allowed by its hash. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Of every response of the listener. */
const SAFE_HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": POLICY,
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

export function resultPage({ kind, title, paragraphs }: PageText): ResultPage {
  return {
    headers: { ...SAFE_HEADERS, "content-type": "text/html; charset=utf-8" },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body class="${kind}">
<main>
<p class="program">brand-events-sync</p>
<h1>${escaped(title)}</h1>
${paragraphs.map((text) => `<p>${escaped(text)}</p>`).join("\n")}
</main>
</body>
</html>
`,
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
