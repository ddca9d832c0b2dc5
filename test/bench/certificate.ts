// The certificate of a simulated service with `https`: for 127.0.0.1, from a private authority.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const FIXTURES = join(import.meta.dirname, "../fixtures/tls");

/** For `NODE_EXTRA_CA_CERTS`. */
export const AUTHORITY = join(FIXTURES, "authority.pem");

export function readCertificate(): { readonly key: Buffer; readonly cert: Buffer } {
  const read = (name: string): Buffer => readFileSync(join(FIXTURES, name));
  return { key: read("service.key"), cert: read("service.pem") };
}
