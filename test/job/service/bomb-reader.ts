// Reads a gzipped list in a thread of its own, whose memory a test can limit. Says what came of it.

import { parentPort, workerData } from "node:worker_threads";
import { readListPage } from "../../../lambdas/job/service/events/list-page.ts";
import { decodeBody } from "../../../lambdas/job/service/http/content-encoding.ts";

const MIB = 1_048_576;

parentPort?.postMessage(await read());

async function read(): Promise<string> {
  if (!(workerData instanceof Uint8Array)) throw new TypeError("no body was given");
  const body = await decodeBody(workerData, "gzip", 256 * MIB);
  if (body.kind !== "whole") return body.kind;
  try {
    const { events, rejected } = readListPage(body.bytes, undefined);
    return `${events.length} events, ${rejected} rejected`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
