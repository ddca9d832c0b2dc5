// How a response is sent: complete, or damaged.

import type { ServerResponse } from "node:http";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Clock } from "../../lambdas/job/runtime/clock.ts";
import type { Damage } from "./faults.ts";
import type { SimulatedResponse } from "./simulated-response.ts";

export type Encoding = "gzip" | "br";

export interface Delivery {
  /** Undefined: not even a status is sent. */
  readonly head?: { readonly status: number; readonly headers: SimulatedResponse["headers"] };
  readonly pieces: readonly Buffer[];
  /** What the service made for it, before compressing, also where it is sent in part only. */
  readonly decodedBytes: number;
  readonly pauseMs: number;
  /** `end`: as HTTP wants it; `close`: the connection ends; `hang`: until the client gives up. */
  readonly ending: "end" | "close" | "reset" | "hang";
}

/** The body is compressed if the client accepts it. */
export const deliveryOf = (
  response: SimulatedResponse,
  options: {
    readonly encoding: Encoding | undefined;
    readonly acceptEncoding: string;
    readonly damage: Damage | undefined;
  },
): Delivery => {
  const { encoding, acceptEncoding, damage } = options;
  const accepted = encoding !== undefined && acceptEncoding.split(/[,;]\s*/).includes(encoding);
  const body = accepted ? compressed(response.body, encoding) : Buffer.from(response.body);
  const half = body.subarray(0, Math.floor(body.length / 2));
  const head = (length: number): Required<Pick<Delivery, "head">> => ({
    head: {
      status: response.status,
      headers: {
        ...response.headers,
        ...(encoding === undefined ? {} : { vary: "accept-encoding" }),
        ...(accepted ? { "content-encoding": encoding } : {}),
        "content-length": String(length),
      },
    },
  });
  const decodedBytes = Buffer.byteLength(response.body);
  const whole = { ...head(body.length), decodedBytes, pauseMs: 0 };
  switch (damage?.kind) {
    case undefined:
      return { ...whole, pieces: [body], ending: "end" };
    case "reset":
      return { pieces: [], decodedBytes: 0, pauseMs: 0, ending: "reset" };
    case "hang":
      return { pieces: [], decodedBytes: 0, pauseMs: 0, ending: "hang" };
    case "reset-mid-body":
      return { ...whole, pieces: [half], ending: "reset" };
    case "hang-mid-body":
      return { ...whole, pieces: [half], ending: "hang" };
    case "truncate":
      return { ...whole, pieces: [half], ending: "close" };
    case "cut":
      return { ...whole, ...head(half.length), pieces: [half], ending: "end" };
    case "slow-body":
      return { ...whole, pieces: split(body, damage.pieces ?? 4), pauseMs: damage.pauseMs, ending: "end" };
  }
};

/** Ends when the last byte is handed over, which is before the client can have seen it; a hang ends with the connection. */
export const deliver = async (
  response: ServerResponse,
  delivery: Delivery,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => {
  const { head, pieces, pauseMs, ending } = delivery;
  const date = new Date(clock.now()).toUTCString();
  if (head !== undefined) response.writeHead(head.status, outgoing({ date, ...head.headers }));
  for (const [index, piece] of pieces.entries()) {
    if (pauseMs > 0) await clock.sleep(pauseMs, signal);
    const last = index === pieces.length - 1;
    if (last && ending === "end") response.end(piece);
    else await flushed(response, piece);
  }
  if (ending === "close") response.socket?.end();
  if (ending === "reset") response.socket?.resetAndDestroy();
  if (ending === "hang") await closed(response);
};

const compressed = (body: string | Buffer, encoding: Encoding): Buffer =>
  encoding === "gzip"
    ? gzipSync(body, { level: 1 })
    : brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const split = (body: Buffer, count: number): readonly Buffer[] => {
  const size = Math.ceil(body.length / count);
  return Array.from({ length: count }, (_, index) => body.subarray(index * size, (index + 1) * size));
};

const outgoing = (headers: SimulatedResponse["headers"]): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
  );

const flushed = (response: ServerResponse, piece: Buffer): Promise<void> =>
  new Promise((resolve) => {
    response.once("close", resolve);
    response.write(piece, () => resolve());
  });

const closed = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    if (response.closed) resolve();
    else response.once("close", resolve);
  });
