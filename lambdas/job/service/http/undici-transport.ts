// Sends one attempt with undici: one total time-out, a cap on the body, gzip and br, perhaps through a proxy.

import { type ClientRequest, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { buildConnector as undici } from "undici";
import buildConnector from "undici/lib/core/connect.js";
import Agent from "undici/lib/dispatcher/agent.js";
import { onAbort } from "../../runtime/on-abort.ts";
import { noResponseOf, ResponseCollector } from "./response-collector.ts";
import {
  type HttpResponse,
  NoResponse,
  TIMED_OUT,
  type Transport,
  type TransportRequest,
} from "./transport.ts";

/** Bounds the headers of a response. It is Node.js's default, which a command-line flag could change. */
const MAX_HEADER_BYTES = 16_384;

interface UndiciTransportOptions {
  readonly connections: number;
  /** For connect, headers and body together, where a request has no other. Real time: a network does not follow a simulated clock. */
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
      connect: prepared(proxy === undefined ? connect : proxyTunnel(proxy, connect, limits)),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  async send(request: TransportRequest, signal?: AbortSignal): Promise<HttpResponse> {
    signal?.throwIfAborted();
    const collector = new ResponseCollector(request);
    const { timeoutMs = this.#timeoutMs } = request;
    const timer = setTimeout(() => collector.giveUp(TIMED_OUT), timeoutMs);
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

type Connect = undici.connector;

interface TunnelLimits {
  /** How long the proxy may take, from the connection to it until the end of its answer. */
  readonly timeoutMs: number;
  /** Ends tunnels that are being opened. */
  readonly signal: AbortSignal;
}

/** Wraps a connector: each connection goes through a tunnel of its own (CONNECT, RFC 9110 §9.3.6). */
function proxyTunnel(proxy: URL, connect: Connect, limits: TunnelLimits): Connect {
  return (options, callback) => {
    const port = options.port || (options.protocol === "https:" ? "443" : "80");
    // RFC 9110 §9.3.6: with the brackets of an IPv6 address, which undici has taken away.
    const host = options.hostname.includes(":") ? `[${options.hostname}]` : options.hostname;
    openTunnel(proxy, `${host}:${port}`, limits).then(
      (socket) => {
        if (options.protocol === "https:") connect({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(error, null),
    );
  };
}

async function openTunnel(proxy: URL, target: string, { timeoutMs, signal }: TunnelLimits): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const request = connectRequest(proxy, target, signal);
  const fail = (failure: NoResponse): void => {
    reject(failure);
    request.destroy();
  };
  const failWith = (code: string): void => fail(new NoResponse(code, proxy.origin));
  // Not the time without a byte: a proxy may send one now and then, for ever.
  const timer = setTimeout(() => failWith(TIMED_OUT), timeoutMs);
  request.once("connect", ({ statusCode = 0, headers }, socket: Socket) => {
    if (statusCode >= 200 && statusCode < 300) return resolve(socket);
    socket.destroy();
    const takesNoPassword = statusCode === 407 && offersOtherLogins(headers["proxy-authenticate"]);
    failWith(takesNoPassword ? "PROXY_WITHOUT_BASIC" : `PROXY_STATUS_${statusCode}`);
  });
  request.on("error", (error) =>
    fail(noResponseOf(error, proxy.origin) ?? new NoResponse("NOT_HTTP", proxy.origin)),
  );
  request.end();
  return promise.finally(() => clearTimeout(timer));
}

/** Whether a proxy names ways to log in, and none that takes a user name and a password (Basic, RFC 7617). */
function offersOtherLogins(challenges: string | string[] | undefined): boolean {
  const offered = [challenges ?? []].flat().join(", ");
  return offered !== "" && !/(?:^|,)\s*Basic(?:[\s,]|$)/i.test(offered);
}

function connectRequest(proxy: URL, target: string, signal: AbortSignal): ClientRequest {
  const { protocol, username, password } = proxy;
  const userInfo = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const authorization = `Basic ${Buffer.from(userInfo).toString("base64")}`;
  const send = protocol === "https:" ? httpsRequest : httpRequest;
  return send({
    method: "CONNECT",
    protocol,
    hostname: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port || (protocol === "https:" ? 443 : 80),
    path: target,
    agent: false,
    signal,
    headers: { host: target, ...(username === "" ? {} : { "proxy-authorization": authorization }) },
  });
}

/** Wraps a connector: what undici does not do for a connection. */
function prepared(connect: Connect): Connect {
  return (options, callback) => {
    connect(options, (...outcome) => {
      const [failure, socket] = outcome;
      if (failure === null) {
        // With TLS 1.3 a server refuses a client after its handshake, with an alert before the end of the connection:
        // undici would report the end.
        socket.once("error", (error) => socket.destroy(error));
        skipInterimResponses(socket);
      }
      callback(...outcome);
    });
  };
}

/**
 * RFC 9110 §15.2: a client must be able to parse any number of interim responses (1xx) before the final one, even if it
 * expects none. undici drops the connection at a 100 it did not expect. For connections that carry one request at a time.
 * undici calls `read()` without a size; Node.js's own calls have one.
 */
function skipInterimResponses(socket: Socket): void {
  const interim = new InterimResponses();
  const read = socket.read.bind(socket);
  const write = socket.write.bind(socket);
  socket.read = (size?: number): unknown => {
    if (size !== undefined) return read(size);
    for (let chunk = read(); chunk !== null; chunk = read()) {
      const rest = interim.skip(chunk);
      if (rest.length > 0) return rest;
    }
    return null;
  };
  socket.write = (chunk: string | Uint8Array, how?: BufferEncoding | Callback, done?: Callback): boolean => {
    interim.requestSent();
    return typeof how === "function" ? write(chunk, how) : write(chunk, how, done);
  };
}

type Callback = (error?: Error | null) => void;

const NOTHING = Buffer.alloc(0);
/** RFC 9112 §4. 101 does not count: it would be the last HTTP on this connection. */
const INTERIM = /^HTTP\/1\.\d 1(?!01)\d\d/;
/** A text as long as what the expression needs. */
const SAMPLE = "HTTP/1.1 100";

/** Follows the bytes of a connection up to the first line of the final response. */
export class InterimResponses {
  #place: "before a status line" | "in an interim response" | "in the final response" =
    "before a status line";
  /** The end of what has come, as long as it is too short to be understood: less than 12 bytes. */
  #held = NOTHING;

  requestSent(): void {
    this.#place = "before a status line";
    this.#held = NOTHING;
  }

  /** The part of the next bytes that belongs to the final response. */
  skip(chunk: Buffer): Buffer {
    if (this.#place === "in the final response") return chunk;
    let rest = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = NOTHING;
    while (rest.length > 0) {
      if (this.#place === "in an interim response") {
        // An interim response ends with its first empty line: it has no body (RFC 9110 §15.2).
        const end = /\n\r?\n/.exec(rest.toString("latin1"));
        if (end === null) return this.#hold(rest.subarray(-2));
        rest = rest.subarray(end.index + end[0].length);
        this.#place = "before a status line";
      } else {
        const line = rest.toString("latin1", 0, SAMPLE.length);
        if (!INTERIM.test(line + SAMPLE.slice(line.length))) {
          this.#place = "in the final response";
          return rest;
        }
        if (line.length < SAMPLE.length) return this.#hold(rest);
        this.#place = "in an interim response";
      }
    }
    return rest;
  }

  #hold(bytes: Buffer): Buffer {
    this.#held = Buffer.from(bytes);
    return NOTHING;
  }
}
