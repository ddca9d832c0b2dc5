// Tries everything a run needs, once, and says what is wrong and what to do.

import { SyncError } from "../errors/sync-error.ts";
import type { ListedEvent } from "../service/event-service.ts";
import { layout } from "../storage/layout.ts";
import { checkEverything, checkHead } from "./check-snapshot.ts";
import { estimateText } from "./collect/estimate.ts";
import { readListOnce } from "./collect/read-list.ts";
import { unusedRateLimiter } from "./lease/lease-account.ts";
import type { Skipped } from "./lease/skipped.ts";
import { type OpenService, withLease } from "./lease/with-lease.ts";
import { openAccount } from "./login/open-account.ts";
import { columnsOfRun } from "./publish/columns.ts";
import type { CountingService, RunPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";

const CHECKS = ["credentials", "lease", "login", "list", "detail", "store", "catalog", "snapshot"] as const;

export interface Check {
  readonly name: (typeof CHECKS)[number];
  readonly ok: boolean;
  readonly code: SyncError["code"] | Skipped["reason"] | null;
  readonly remedy: string | null;
}

/** How many details are tried before their absence counts as a failure: one event may be gone or forbidden. */
const DETAIL_TRIES = 3;

export interface CheckOptions {
  /** Verifies everything that is kept, not only what readers see. */
  readonly deep?: boolean;
  /** Called with how many events are listed and how long a run of them takes, in words. */
  readonly onEstimate?: (estimate: string) => void;
}

type RunCheck = <T>(name: Check["name"], work: () => Promise<T>) => Promise<T | undefined>;

/**
 * The checks in order; a check that needs a failed one is left out. Publishes nothing. Holds the lease while it uses
 * the service. Where another process holds the lease, nothing is sent to the service and the list has a check `lease`,
 * which it has only then.
 */
export async function check(
  ports: RunPorts,
  settings: RunSettings,
  { deep = false, onEstimate = () => undefined }: CheckOptions = {},
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const runCheck: RunCheck = async (name, work) => {
    try {
      const value = await work();
      checks.push({ name, ok: true, code: null, remedy: null });
      return value;
    } catch (error) {
      ports.signal.throwIfAborted();
      if (!(error instanceof SyncError)) throw error;
      checks.push({ name, ok: false, code: error.code, remedy: error.message });
      return undefined;
    }
  };

  const unused = unusedRateLimiter(ports, settings);
  const openWithoutLease: OpenService = () => openAccount(ports, settings.account, unused, "manual");
  const skipped = await withLease(ports, settings, "check", async (open, leased, budget) => {
    const listed = await tryService(leased, open, runCheck);
    if (listed !== undefined) onEstimate(estimateText(listed, budget));
    return undefined;
  }).catch(async (error: unknown) => {
    // The store failed, so no run can work on the account either. The checks of the service are still worth making.
    if (!(error instanceof SyncError) || ports.signal.aborted) throw error;
    const listed = await tryService(ports, openWithoutLease, runCheck);
    if (listed !== undefined) onEstimate(estimateText(listed, unused));
    return undefined;
  });
  if (skipped?.reason === "LOGIN_REFUSED") {
    checks.push({ name: "login", ok: false, code: skipped.reason, remedy: skipped.explanation });
  } else if (skipped) {
    if (checks.length === 0) await runCheck("credentials", async () => (await openWithoutLease()).close());
    checks.push({ name: "lease", ok: false, code: skipped.reason, remedy: skipped.explanation });
  }
  const isStoreWritable = await runCheck("store", () => tryStore(ports, settings.account));
  if (isStoreWritable) {
    await runCheck("catalog", () => tryCatalog(ports, settings));
    await runCheck("snapshot", () => (deep ? checkEverything : checkHead)(ports, settings.account));
  }
  return checks;
}

/** Returns how many events a run would request, if the service lists them. */
async function tryService(
  ports: RunPorts,
  open: OpenService,
  runCheck: RunCheck,
): Promise<number | undefined> {
  const service = await runCheck("credentials", open);
  if (service === undefined) return undefined;
  try {
    const loggedIn = await runCheck("login", async () => {
      await service.logIn(ports.signal);
      return true;
    });
    const list = loggedIn ? await runCheck("list", () => readListOnce(service, ports)) : undefined;
    const tried = list ? Iterator.from(list.events).take(DETAIL_TRIES).toArray() : [];
    if (tried.length > 0) await runCheck("detail", () => tryDetail(ports, service, tried));
    return list?.events.length;
  } finally {
    await service.close();
  }
}

async function tryDetail(
  ports: RunPorts,
  service: CountingService,
  tried: readonly ListedEvent[],
): Promise<void> {
  for (const { requestAs } of tried) {
    const detail = await service.detail(requestAs, ports.signal);
    if (detail.kind === "event") return;
  }
  throw new SyncError(
    "NOT_ENTITLED",
    `This account may not read the details of any of the first ${tried.length} listed events. Ask the service's operator what the account is licensed for.`,
  );
}

/** The columns are those that a run would have. */
async function tryCatalog(ports: RunPorts, settings: RunSettings): Promise<void> {
  await ports.catalog.refresh(settings.account);
  await columnsOfRun(ports, settings);
}

async function tryStore(ports: RunPorts, account: string): Promise<true> {
  const key = layout.writeCheck(account, ports.random.token());
  await ports.store.create(key, Buffer.from("{}\n"));
  await ports.store.delete(key);
  return true;
}
