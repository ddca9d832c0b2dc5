// A real process of the laptop's job that kills itself with SIGKILL at a point that a test names.

import { parseArgs } from "node:util";
import { isGone, thisProcess } from "../../bin/cli/wiring/this-process.ts";
import { DuckdbCatalog } from "../../lambdas/job/catalog/duckdb/duckdb-catalog.ts";
import { FileCredentials } from "../../lambdas/job/credentials/file-credentials.ts";
import { serviceOpener } from "../../lambdas/job/run/open-account.ts";
import { run } from "../../lambdas/job/run/run.ts";
import { systemClock, systemRandom } from "../../lambdas/job/runtime/clock.ts";
import { VERSION } from "../../lambdas/job/runtime/version.ts";
import { DirectoryStore } from "../../lambdas/job/storage/directory/directory-store.ts";
import { accountStore, type Store } from "../../lambdas/job/storage/store.ts";
import { portsWith, settingsWith } from "../job/run/run-defaults.ts";
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

const settings = settingsWith({ baseUrl: values["base-url"], concurrency: 2, rangeEvents: 20 });

const directory = values.warehouse;
const store = crashing(new DirectoryStore({ directory, random: systemRandom }));
const shared = { clock: systemClock, random: systemRandom, logger: new LogLines(), version: VERSION };
const ports = portsWith({
  ...shared,
  store: accountStore(store, "default"),
  catalog: new DuckdbCatalog({ store, directory }),
  process: thisProcess(),
  isGone,
  openService: serviceOpener(settings, {
    ...shared,
    credentials: new FileCredentials(values.credentials, shared.logger),
  }),
  onProgress: ({ done }) => {
    if (done === Number(values.done)) die();
  },
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
    delete: async (keys) => {
      for (const key of keys) await around(key, () => inner.delete([key]));
    },
  };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  throw new Error("unreachable");
}
