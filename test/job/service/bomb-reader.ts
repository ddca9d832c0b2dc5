// Reads a gzipped list in a thread of its own, whose memory a test can limit. Says what came of it.

import { parentPort, workerData } from "node:worker_threads";
import { ListReader } from "../../../lambdas/job/service/events/list/list-reader.ts";
import { BodyDelivery } from "../../../lambdas/job/service/http/response-collector.ts";
import type { ResponseBody } from "../../../lambdas/job/service/http/transport.ts";
import { LatchedReader } from "../../../lambdas/job/service/requests/api-client.ts";

const MIB = 1_048_576;

parentPort?.postMessage(await read());

async function read(): Promise<string> {
  if (!(workerData instanceof Uint8Array)) throw new TypeError("no body was given");
  const reader = new ListReader(undefined);
  const pieces = new LatchedReader({ add: (piece) => reader.add(piece), end: () => reader.end() });
  const delivered = Promise.withResolvers<ResponseBody>();
  const delivery = new BodyDelivery({
    sink: pieces,
    contentEncoding: "gzip",
    capBytes: 256 * MIB,
    onEnd: delivered.resolve,
  });
  delivery.add(workerData, { pause: () => undefined, resume: () => undefined });
  delivery.finish();
  const { kind } = await delivered.promise;
  if (kind !== "delivered") return kind;
  try {
    const { entries } = pieces.end(new Map());
    return `${entries.events.length} events, ${entries.rejected} rejected`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
