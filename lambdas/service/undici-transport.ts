// Sends one attempt with undici: one total time-out, a cap on the body, gzip and br.

import { Agent, errors } from "undici";
import { abortable } from "./abortable.ts";
import { decodeBody } from "./content-encoding.ts";
import {
  type Answer,
  type AnswerBody,
  NoAnswer,
  type Transport,
  type TransportRequest,
} from "./transport.ts";

// Error bodies are read only so that the connection can be used again.
const UNREAD_CAP_BYTES = 65_536;

const TIMED_OUT = "TIMED_OUT";

// Mistakes of ours, not of the network: repeating them mends nothing.
const OUR_MISTAKES: ReadonlySet<string> = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_INVALID_RETURN_VALUE",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

export interface UndiciTransportOptions {
  readonly connections: number;
  /** For connect, headers and body together. Real time: a network does not follow a simulated clock. */
  readonly timeoutMs: number;
}

export class UndiciTransport implements Transport {
  readonly #agent: Agent;
  readonly #timeoutMs: number;

  constructor(options: UndiciTransportOptions) {
    this.#timeoutMs = options.timeoutMs;
    this.#agent = new Agent({
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      // The total time-out below rules; undici's own timers would only blur it.
      connect: { timeout: options.timeoutMs },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<Answer> {
    signal?.throwIfAborted();
    const attempt = new AbortController();
    const timer = setTimeout(() => attempt.abort(new NoAnswer(TIMED_OUT)), this.#timeoutMs);
    const passOn = (): void => attempt.abort(signal?.reason);
    signal?.addEventListener("abort", passOn);
    try {
      return await this.#exchange(request, attempt.signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NoAnswer) throw error;
      throw new NoAnswer(networkCode(error));
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", passOn);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #exchange(request: TransportRequest, signal: AbortSignal): Promise<Answer> {
    // undici looks at the signal only once it is connected, so a connect that hangs would outlive it.
    const response = await abortable(this.#request(request, signal), signal);
    const { statusCode: status, body } = response;
    const headers = headerMap(response.headers);
    const read = status >= 200 && status < 300;
    const capBytes = read ? request.bodyCapBytes : UNREAD_CAP_BYTES;
    const wire = await collect(body, capBytes);
    // The caller's own abort is no broken body; `send` turns it into the signal's reason.
    if (signal.aborted && !(signal.reason instanceof NoAnswer)) throw signal.reason;
    const answer = { status, headers, wireBytes: wire.bytes };
    if (!read) return { ...answer, body: { kind: "unread" } };
    const encoding = headers.get("content-encoding")?.join(",") ?? "";
    return {
      ...answer,
      body: wire.kind === "whole" ? await decodeBody(wire.chunks, encoding, capBytes) : wire.body,
    };
  }

  #request(request: TransportRequest, signal: AbortSignal): ReturnType<Agent["request"]> {
    return this.#agent.request({
      origin: request.url.origin,
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal,
    });
  }
}

function headerMap(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value ?? []].flat()]));
}

type Wire =
  | { readonly kind: "whole"; readonly chunks: readonly Buffer[]; readonly bytes: number }
  | { readonly kind: "cut"; readonly body: AnswerBody; readonly bytes: number };

async function collect(body: AsyncIterable<Buffer>, capBytes: number): Promise<Wire> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      // Leaving the loop destroys the body and with it the connection: nothing more is downloaded.
      if (bytes > capBytes) return { kind: "cut", body: { kind: "oversize" }, bytes };
      chunks.push(chunk);
    }
  } catch (error) {
    const cause = error instanceof NoAnswer ? error.reason : networkCode(error);
    return { kind: "cut", body: { kind: "broken", cause }, bytes };
  }
  return { kind: "whole", chunks, bytes };
}

/** The short code of a network error. Its message stays behind: undici's may quote what was received. */
function networkCode(error: unknown): string {
  if (error instanceof errors.HTTPParserError) return "NOT_HTTP"; // has no code most of the time
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || OUR_MISTAKES.has(code) || code.startsWith("ERR_INVALID_")) throw error;
  return error instanceof errors.SocketError ? "CONNECTION_LOST" : code;
}
