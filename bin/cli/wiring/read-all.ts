// Everything that comes through standard input.

/** Until its end. Throws the signal's reason when that aborts; then the input no longer keeps the process alive. */
export async function readAll(input: NodeJS.ReadableStream, signal: AbortSignal): Promise<Uint8Array> {
  const ended = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  const keep = (chunk: string | Buffer): unknown => chunks.push(Buffer.from(chunk));
  const stop = (): void => ended.reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  input.on("data", keep).once("end", ended.resolve).once("error", ended.reject);
  try {
    await ended.promise;
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener("abort", stop);
    input.off("data", keep).off("end", ended.resolve).off("error", ended.reject);
    input.pause();
  }
}
