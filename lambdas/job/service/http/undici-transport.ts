// Sends one attempt with undici: one total time-out, a cap on the body, gzip and br.

import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import { onAbort } from "../../runtime/on-abort.ts";
import { skippingInterimResponses } from "./interim-responses.ts";
import { proxyTunnel } from "./proxy-tunnel.ts";
import { ResponseCollector } from "./response-collector.ts";
import type { HttpResponse, Transport, TransportRequest } from "./transport.ts";

/** Bounds the headers of a response. It is Node.js's default, which a command-line flag could change. */
const MAX_HEADER_BYTES = 16_384;
const TIMED_OUT = "TIMED_OUT";

export interface UndiciTransportOptions {
  readonly connections: number;
  /** For connect, headers and body together. Real time: a network does not follow a simulated clock. */
  readonly timeoutMs: number;
  /** Every connection goes through it. */
  readonly proxy?: URL | undefined;
}

export class UndiciTransport implements Transport {
  readonly #agent: Agent;
  readonly #timeoutMs: number;
  readonly #closed = new AbortController();

  constructor(options: UndiciTransportOptions) {
    this.#timeoutMs = options.timeoutMs;
    const { signal } = this.#closed;
    const connect = buildConnector({ timeout: options.timeoutMs, allowH2: false, signal });
    // A proxy gets half of the time, so that the error names it.
    const { proxy } = options;
    const limits = { timeoutMs: options.timeoutMs / 2, signal };
    this.#agent = new Agent({
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      // The total time-out in `send` replaces undici's own timers.
      connect: skippingInterimResponses(proxy === undefined ? connect : proxyTunnel(proxy, connect, limits)),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const collector = new ResponseCollector(request);
    const timer = setTimeout(() => collector.giveUp(TIMED_OUT), this.#timeoutMs);
    const leave = signal && onAbort(signal, (reason) => collector.stop(reason));
    try {
      this.#dispatch(request, collector);
      return await collector.response;
    } finally {
      clearTimeout(timer);
      leave?.();
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
    // undici leaves alone what is being opened: a connection, a tunnel, a TLS handshake.
    this.#closed.abort();
  }

  #dispatch({ url, method, headers, body }: TransportRequest, collector: ResponseCollector): void {
    const { origin, pathname, search } = url;
    const path = pathname + search;
    this.#agent.dispatch({ origin, path, method, headers, body: body ?? null }, collector);
  }
}
