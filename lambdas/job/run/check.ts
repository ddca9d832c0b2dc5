// Tries everything a run needs, once, and says for each what is wrong and what to do.

import { SyncError } from "../errors/sync-error.ts";
import type { ListedEvent } from "../service/event-service.ts";
import { layout } from "../storage/layout.ts";
import { checkEverything, checkHead } from "./check-snapshot.ts";
import { unusedRateLimiter } from "./lease/lease-account.ts";
import type { Skipped } from "./lease/skipped.ts";
import { type OpenService, withLease } from "./lease/with-lease.ts";
import { openAccount } from "./login/open-account.ts";
import type { CountingService, RunPorts, RunSettings } from "./run-ports.ts";

const CHECKS = ["credentials", "lease", "login", "list", "detail", "store", "catalog", "snapshot"] as const;

export interface Check {
  readonly name: (typeof CHECKS)[number];
  readonly ok: boolean;
  readonly code: SyncError["code"] | Skipped["reason"] | null;
  readonly remedy: string | null;
}

/** Events whose details are tried before their absence counts as a failure: one may be gone or not ours. */
const DETAIL_TRIES = 3;

type Attempt = <T>(name: Check["name"], work: () => Promise<T>) => Promise<T | undefined>;

/**
 * The checks in order; what cannot be tried because an earlier one failed is left out. Publishes nothing. Holds the
 * lease while it talks to the service; where another process holds it, the service is sent nothing and `lease` is in
 * the list. It is there only then.
 * @param deep verifies everything that is kept, not only what readers see
 */
export async function check(
  ports: RunPorts,
  settings: RunSettings,
  { deep = false }: { readonly deep?: boolean } = {},
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const attempt: Attempt = async (name, work) => {
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

  const openWithoutLease: OpenService = () =>
    openAccount(ports, settings.account, unusedRateLimiter(ports, settings), "manual");
  const skipped = await withLease(ports, settings, "check", (open, leased) =>
    tryService(leased, open, attempt),
  ).catch((error: unknown) => {
    // The store failed, so no run can work on the account either. What the service says is worth knowing all the same.
    if (!(error instanceof SyncError) || ports.signal.aborted) throw error;
    return tryService(ports, openWithoutLease, attempt);
  });
  if (skipped) {
    if (checks.length === 0) await attempt("credentials", async () => (await openWithoutLease()).close());
    checks.push({ name: "lease", ok: false, code: skipped.reason, remedy: skipped.explanation });
  }
  const isStoreWritable = await attempt("store", () => tryStore(ports, settings.account));
  if (isStoreWritable) {
    await attempt("catalog", () => ports.catalog.refresh(settings.account));
    await attempt("snapshot", () => (deep ? checkEverything : checkHead)(ports, settings.account));
  }
  return checks;
}

async function tryService(ports: RunPorts, open: OpenService, attempt: Attempt): Promise<void> {
  const service = await attempt("credentials", open);
  if (service === undefined) return;
  try {
    const loggedIn = await attempt("login", async () => {
      await service.logIn(ports.signal);
      return true;
    });
    const list = loggedIn ? await attempt("list", () => service.list(ports.signal)) : undefined;
    const events = list?.events ?? [];
    if (events.length > 0) await attempt("detail", () => tryDetail(ports, service, events));
  } finally {
    await service.close();
  }
}

async function tryDetail(
  ports: RunPorts,
  service: CountingService,
  events: readonly ListedEvent[],
): Promise<void> {
  const tried = events.slice(0, DETAIL_TRIES);
  for (const { requestAs } of tried) {
    const detail = await service.detail(requestAs, ports.signal);
    if (detail.kind === "event") return;
  }
  throw new SyncError(
    "NOT_ENTITLED",
    `None of the first ${tried.length} listed events gives its details to this account. Ask the service's operator what the account is licensed for.`,
  );
}

async function tryStore(ports: RunPorts, account: string): Promise<true> {
  const key = layout.writeCheck(account, ports.random.token());
  await ports.store.create(key, Buffer.from("{}\n"));
  await ports.store.delete(key);
  return true;
}
