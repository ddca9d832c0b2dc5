// Gives memory back at once. The garbage collector would come to it later, and walks the whole heap for each few of such
// buffers.

/** The whole memory below the bytes, which nothing may use any more. */
export function free({ buffer }: Buffer): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}
