// A real process of the laptop's job that kills itself with SIGKILL at a point that a test names.

import { parseArgs } from "node:util";
import { localRunPorts } from "../../bin/cli/wiring/service-ports.ts";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { FileCredentials } from "../../lambdas/job/credentials/file-credentials.ts";
import { readProxies } from "../../lambdas/job/network/proxies.ts";
import { run } from "../../lambdas/job/run/run.ts";
import type { RunSettings } from "../../lambdas/job/run/run-settings.ts";
import { systemRandom } from "../../lambdas/job/runtime/random.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../lambdas/job/storage/store.ts";
import { LogLines } from "../job/runtime/log-lines.ts";

const { values } = parseArgs({
  options: {
    "base-url": { type: "string", default: "" },
    credentials: { type: "string", default: "" },
    warehouse: { type: "string", default: "" },
    /** Dies at the first effect whose key contains this … */
    at: { type: "string" },
    moment: { type: "string", default: "before" },
    /** … or when so many events are done. */
    done: { type: "string" },
  },
});

const settings: RunSettings = {
  account: "default",
  baseUrl: values["base-url"],
  isListed: "true",
  listPointer: undefined,
  detailPointer: undefined,
  lifted: [],
  requestsPerMinute: "unlimited",
  bytesPerMinute: "unlimited",
  windowMs: 60_000,
  concurrency: 2,
  maxDropPercent: 20,
  maxMissingPercent: 1,
  require: [],
  resumeWithinMinutes: 60,
  retainDays: undefined,
  rangeEvents: 20,
};

const directory = values.warehouse;
const store = crashing(new DirectoryStore({ directory, random: systemRandom }));
const logger = new LogLines();
const ports = localRunPorts({
  warehouse: { store, catalog: new DuckdbCatalog({ store, directory }) },
  credentials: new FileCredentials(values.credentials, logger),
  settings,
  logger,
  onProgress: ({ done }) => {
    if (done === Number(values.done)) die();
  },
  onWait: () => undefined,
  proxies: readProxies({}),
  signal: new AbortController().signal,
});
const result = await run(ports, settings, { trigger: "manual" });
process.stdout.write(`survived: ${JSON.stringify(result.row)}\n`);

function crashing(inner: Store): Store {
  const around = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const hit = values.at !== undefined && key.includes(values.at);
    if (hit && values.moment === "before") die();
    const made = await work();
    if (hit) die();
    return made;
  };
  return {
    read: (key) => inner.read(key),
    open: (key) => inner.open(key),
    list: (prefix, after) => inner.list(prefix, after),
    create: (key, body) => around(key, () => inner.create(key, body)),
    copy: (from, to) => around(to, () => inner.copy(from, to)),
    replace: (key, bytes, version) => around(key, () => inner.replace(key, bytes, version)),
    delete: (key) => around(key, () => inner.delete(key)),
  };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}
