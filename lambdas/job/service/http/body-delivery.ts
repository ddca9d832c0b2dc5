// Hands a body to a sink as it arrives: decoded, up to the cap, and no faster than it is read.

import type { Transform } from "node:stream";
import type { Dispatcher } from "undici";
import { decodingStream } from "./content-encoding.ts";
import type { BodySink, ResponseBody } from "./transport.ts";

export interface BodyDeliveryOptions {
  readonly sink: BodySink;
  readonly contentEncoding: string;
  readonly capBytes: number;
  /** Called once, unless the delivery is stopped before; with the number of decoded bytes, or received ones if those are more. */
  readonly onEnd: (body: ResponseBody, decodedBytes: number) => void;
}

export class BodyDelivery {
  readonly #options: BodyDeliveryOptions;
  readonly #decoder: Transform | undefined;
  #receivedBytes = 0;
  #decodedBytes = 0;
  #isOver = false;

  constructor(options: BodyDeliveryOptions) {
    this.#options = options;
    const decoder = decodingStream(options.contentEncoding);
    if (decoder === undefined) this.#end({ kind: "foreign" });
    if (typeof decoder !== "object") return;
    this.#decoder = decoder;
    decoder.on("data", (piece: Buffer) => this.#deliver(piece));
    decoder.once("end", () => this.#end({ kind: "delivered" }));
    decoder.once("error", () => this.#end({ kind: "broken", cause: "UNDECODABLE" }));
  }

  add(chunk: Uint8Array, controller: Pick<Dispatcher.DispatchController, "pause" | "resume">): void {
    if (this.#isOver) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#options.capBytes) this.#end({ kind: "oversize" });
    else if (this.#decoder === undefined) this.#deliver(chunk);
    else if (!this.#decoder.write(chunk)) {
      controller.pause();
      this.#decoder.once("drain", () => controller.resume());
    }
  }

  /** All of the body has arrived. */
  finish(): void {
    if (this.#decoder === undefined) this.#end({ kind: "delivered" });
    else this.#decoder.end();
  }

  /** The rest of the body will not arrive. */
  breakOff(cause: string): void {
    this.#end({ kind: "broken", cause });
  }

  /** Nothing is delivered any more. */
  stop(): void {
    this.#isOver = true;
    this.#decoder?.destroy();
  }

  #deliver(piece: Uint8Array): void {
    if (this.#isOver) return;
    this.#decodedBytes += piece.length;
    if (this.#decodedBytes > this.#options.capBytes) this.#end({ kind: "oversize" });
    else if (!this.#options.sink.add(piece)) this.#end({ kind: "delivered" });
  }

  #end(body: ResponseBody): void {
    if (this.#isOver) return;
    this.stop();
    const isWhole = body.kind === "delivered";
    const bytes = isWhole ? this.#decodedBytes : Math.max(this.#receivedBytes, this.#decodedBytes);
    this.#options.onEnd(body, bytes);
  }
}
