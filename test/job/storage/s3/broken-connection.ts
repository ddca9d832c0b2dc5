// A store in a bucket behind a connection that a test breaks, beside one on a good connection.

import { systemRandom } from "../../../../lambdas/job/runtime/clock.ts";
import { S3Store } from "../../../../lambdas/job/storage/s3/s3-store.ts";
import { AwsProxy } from "../../../aws/aws-proxy.ts";
import { awsClients, emulator, freshBucket, newAwsClients } from "../../../aws/emulator.ts";

export const MIB = 1024 * 1024;
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (stored: { readonly bytes: Uint8Array } | undefined): string =>
  new TextDecoder().decode(stored?.bytes);

interface BrokenConnection extends AsyncDisposable {
  readonly proxy: AwsProxy;
  /** Goes through the proxy. */
  readonly store: S3Store;
  /** Another process, on a good connection. */
  readonly other: S3Store;
}

export async function brokenConnection(): Promise<BrokenConnection> {
  const bucket = await freshBucket(awsClients().s3);
  const proxy = await AwsProxy.start(emulator());
  const at = (endpoint: string): S3Store =>
    new S3Store({ client: newAwsClients(endpoint).s3, bucket, prefix: "", random: systemRandom });
  return {
    proxy,
    store: at(proxy.url),
    other: at(emulator()),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

/** Enough for two parts. */
export async function* large(): AsyncGenerator<Uint8Array> {
  for (let n = 0; n < 9; n += 1) yield new Uint8Array(MIB).fill(n);
}
