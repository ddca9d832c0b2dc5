// All of standard input, where a secret comes from there.

import type { SyncError } from "../errors/sync-error.ts";

const MAX_CHARACTERS = 65_536;

/** Throws what `unusable` makes of a problem, or the signal's reason. The input is let go of in every case. */
export async function readInput(
  input: NodeJS.ReadableStream,
  signal: AbortSignal,
  unusable: (problem: string) => SyncError,
): Promise<string> {
  signal.throwIfAborted();
  const ended = Promise.withResolvers<void>();
  let text = "";
  const add = (piece: string): void => {
    text += piece;
    if (text.length > MAX_CHARACTERS) ended.reject(unusable("has more than 65,536 characters"));
  };
  const stop = (): void => ended.reject(signal.reason);
  signal.addEventListener("abort", stop);
  input.setEncoding("utf8");
  input.on("data", add);
  input.once("end", ended.resolve);
  input.once("error", () => ended.reject(unusable("cannot be read")));
  try {
    await ended.promise;
    return text;
  } finally {
    signal.removeEventListener("abort", stop);
    input.removeListener("data", add);
    // An input that is still open must not keep the process.
    input.pause();
  }
}
