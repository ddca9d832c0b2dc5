// Streams for tests: lists as streams and back.

export async function* streamOf<T>(...items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
