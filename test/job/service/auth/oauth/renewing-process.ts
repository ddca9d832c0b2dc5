// A process of its own that renews the tokens in a file again and again, until it is killed or has done its share.
// Prints a line for each renewal, and the code of the error that ends it.

import { parseArgs } from "node:util";
import { CurrentCredentials } from "../../../../../lambdas/job/credentials/credentials.ts";
import { FileTokenStore } from "../../../../../lambdas/job/credentials/tokens/file-token-store.ts";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { systemClock } from "../../../../../lambdas/job/runtime/clock.ts";
import { TokenEndpoint } from "../../../../../lambdas/job/service/auth/oauth/token-endpoint.ts";
import { TokenRotation } from "../../../../../lambdas/job/service/auth/oauth/token-rotation.ts";
import { UndiciTransport } from "../../../../../lambdas/job/service/http/undici-transport.ts";
import { ServiceCounts } from "../../../../../lambdas/job/service/requests/sender.ts";
import { LogLines } from "../../../runtime/log-lines.ts";

const { values } = parseArgs({
  options: {
    file: { type: "string", default: "" },
    url: { type: "string", default: "" },
    id: { type: "string", default: "" },
    secret: { type: "string", default: "" },
    times: { type: "string", default: "1" },
  },
});
const transport = new UndiciTransport({ connections: 1, timeoutMs: 8_000 });
const logger = new LogLines();
const counts = new ServiceCounts();
const first = { method: "oauth", client_id: values.id, client_secret: values.secret } as const;
const rotation = new TokenRotation({
  store: new FileTokenStore({ file: values.file }),
  storedVersion: "none",
  endpoint: new TokenEndpoint({
    authUrl: new URL(values.url),
    transport,
    headers: {},
    now: () => systemClock.now(),
  }),
  credentials: new CurrentCredentials(first, undefined, logger),
  counts,
  clock: systemClock,
  logger,
});
process.stdout.write("ready\n");
try {
  for (let n = 0; n < Number(values.times); n += 1) {
    const { isRenewed } = await rotation.renew(await rotation.read(), new AbortController().signal);
    process.stdout.write(isRenewed ? "renewed\n" : "found\n");
  }
} catch (error) {
  process.stdout.write(`${error instanceof SyncError ? error.code : String(error)}\n`);
} finally {
  await transport.close();
}
