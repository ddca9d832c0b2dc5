// Tries everything a run needs, once, and says what is wrong and what to do.

import { type Advice, command, inOrder } from "../errors/advice.ts";
import { damageIn, isDamage, RESTART, SyncError, undefinedIfDamaged } from "../errors/sync-error.ts";
import type { Warn } from "../run/collect/read-list.ts";
import { checkTimeLeft, estimate, type TimePorts } from "../run/collect/time-budget.ts";
import { type OpenService, openAccount, withLease } from "../run/open-account.ts";
import { columnsOfRun } from "../run/publish/columns.ts";
import { heldSnapshots } from "../run/publish/held-snapshots.ts";
import { damagedRuns } from "../run/record/run-log.ts";
import type { RunPorts, WarehousePorts, WorldPorts } from "../run/run-ports.ts";
import type { RunSettings } from "../run/run-settings.ts";
import { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import { verifyLeftOut } from "../snapshot/files/manifest.ts";
import { foreignChanges, incompleteUnits, keptSnapshots } from "../snapshot/files/units.ts";
import {
  checkFolders,
  checkForeign,
  verifyChanges,
  verifySnapshot,
} from "../snapshot/files/verify-snapshot.ts";
import { isBeforeRestart, type Publication } from "../storage/publication.ts";
import { readEnd, readLog, readLogSince } from "../storage/publication-log.ts";
import { listSnapshots } from "../storage/snapshot-marks.ts";
import type { AccountStore } from "../storage/store.ts";
import { adviseAfter, type Check, type ListAdvice, type RunCheck, tryService } from "./check-service.ts";

interface CheckOptions extends ListAdvice {
  /** Verifies everything that is kept, not only what readers see. */
  readonly deep?: boolean;
  /** Called with how many events are listed and how long a run of them takes. */
  readonly onEstimate?: (estimate: Advice) => void;
}

/**
 * The checks in order; a check that needs a failed one is left out. Publishes nothing. Holds the lease while it uses the
 * service; where another process holds it, nothing is sent there. The list has `lease` only where the lease cannot be taken.
 */
export async function check(
  ports: RunPorts,
  settings: RunSettings,
  { deep = false, onEstimate = () => undefined, ...advice }: CheckOptions = {},
): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const runCheck: RunCheck = async (name, work) => {
    const warnings: Advice[] = [];
    try {
      const value = await work((warning, next) => warnings.push(inOrder(warning, next)));
      checks.push({
        name,
        ok: true,
        code: null,
        remedy: warnings.length === 0 ? null : inOrder(...warnings),
      });
      return value;
    } catch (error) {
      ports.signal.throwIfAborted();
      if (!(error instanceof SyncError)) throw error;
      checks.push({ name, ok: false, code: error.code, remedy: inOrder(error.message, error.next) });
      adviseAfter(error, advice);
      return undefined;
    }
  };

  let noLease: SyncError | undefined;
  const unused = new RateLimiter({ ...settings, clock: ports.clock });
  const openWithoutLease: OpenService = () => openAccount(ports, unused, "manual");
  const tryAll = async (open: OpenService, leased: RunPorts, budget: RateLimiter): Promise<undefined> => {
    // Under another's lease nothing is tried.
    const listed = await tryService(
      leased,
      open,
      budget,
      runCheck,
      open === openWithoutLease ? undefined : advice,
    );
    if (listed !== undefined) onEstimate(estimate(listed, budget));
  };
  const skipped = await withLease(ports, settings, "check", tryAll).catch((error: unknown) => {
    if (!(error instanceof SyncError) || ports.signal.aborted) throw error;
    noLease = error;
    return tryAll(openWithoutLease, ports, unused);
  });
  if (skipped) {
    const name = skipped.reason === "LOGIN_REFUSED" ? "login" : "lease";
    if (name === "lease" && checks.length === 0)
      await runCheck("credentials", async () => (await openWithoutLease()).close());
    checks.push({
      name,
      ok: false,
      code: skipped.reason,
      remedy: inOrder(skipped.explanation, skipped.next),
    });
  }
  const isStoreWritable = await runCheck("store", () => tryStore(ports));
  if (isStoreWritable) {
    if (noLease) await runCheck("lease", () => Promise.reject(noLease));
    await runCheck("catalog", () => tryCatalog(ports, settings));
    await runCheck("snapshot", async (warn) => {
      const end = await readEnd(ports.store);
      const found = await findDamage(ports, deep);
      // Of an account that was removed meanwhile nothing counts.
      if (found.length > 0 && (await readLogSince(ports.store, end.last)).removal) return;
      tellDamage(found, warn);
    });
  }
  return checks;
}

/** The columns are those that a run would have. */
async function tryCatalog(ports: WorldPorts & WarehousePorts, settings: RunSettings): Promise<void> {
  await ports.catalog.refresh(ports.store.account);
  await columnsOfRun(ports, settings);
}

async function tryStore({ store, random }: WorldPorts & WarehousePorts): Promise<true> {
  const key = store.keys.writeCheck(random.token());
  await store.create(key, Buffer.from("{}\n"));
  await store.delete([key]);
  return true;
}

type SnapshotCheckPorts = WarehousePorts & TimePorts;

const MAX_NAMED = 10;

interface Damage {
  readonly error: SyncError;
  /** What helps without a backup; `past` where nothing has to: what lies before a restart counts no more. */
  readonly cure?: "restart" | { readonly retire: string } | "past" | undefined;
}

/**
 * The head byte by byte, and whether every other snapshot that is published and not retired, and the changes of every
 * publication, have their files; `deep`: all of these, the held ones and the run log byte by byte. Throws `INTERRUPTED` where
 * time runs out.
 */
export async function findDamage(ports: SnapshotCheckPorts, deep: boolean): Promise<readonly Damage[]> {
  const { store } = ports;
  const log = await readLog(store);
  const head = log.at(-1)?.snapshot_id;
  if (head === undefined && !deep) return [];
  const found: Damage[] = [];
  await collectDamage(found, checkFolders(store));
  const read = deep ? await verifiable(store, log) : log.slice(-1).map(({ snapshot_id }) => snapshot_id);
  for (const snapshotId of read) await checkSnapshot(ports, log, snapshotId, found);
  const listed = deep ? [] : await incompleteUnits(store, log, await listSnapshots(store));
  for (const { holds, publication, damage: error } of [...foreignChanges(store.account, log), ...listed]) {
    const { snapshot_id: snapshotId } = publication;
    if (holds === "changes") found.push({ error, cure: cureOfChanges(log, publication) });
    else if (snapshotId !== head) found.push({ error, cure: cureOfSnapshot(log, snapshotId) });
  }
  for (const publication of deep ? log : []) {
    const changes = verifyChanges(store, publication, () => checkTimeLeft(ports, outOfTime));
    await collectDamage(found, changes, cureOfChanges(log, publication));
  }
  if (deep)
    for await (const error of damagedRuns(store, () => checkTimeLeft(ports, outOfTime)))
      found.push({ error });
  return found;
}

async function checkSnapshot(
  ports: SnapshotCheckPorts,
  log: readonly Publication[],
  snapshotId: string,
  found: Damage[],
): Promise<void> {
  const { store } = ports;
  const cure = cureOfSnapshot(log, snapshotId);
  const verify = (): ReturnType<typeof verifySnapshot> =>
    verifySnapshot(store, snapshotId, () => checkTimeLeft(ports, outOfTime));
  // What looks damaged is read a second time: a disk may have failed for a moment.
  const verified = verify().catch((error: unknown) => {
    if (!isDamage(error)) throw error;
    return verify();
  });
  await collectDamage(found, verified, cure);
  const manifest = await verified.catch(undefinedIfDamaged);
  if (manifest === undefined) return;
  // A run makes do without this file, so its damage asks for no restart.
  await collectDamage(found, verifyLeftOut(store, manifest), cure === "restart" ? undefined : cure);
  await collectDamage(found, checkForeign(store, manifest));
}

async function collectDamage(found: Damage[], work: Promise<unknown>, cure?: Damage["cure"]): Promise<void> {
  const error = await damageIn(work);
  if (error) found.push({ error, cure });
}

function cureOfSnapshot(log: readonly Publication[], snapshotId: string): Damage["cure"] {
  return snapshotId === log.at(-1)?.snapshot_id ? "restart" : { retire: snapshotId };
}

function cureOfChanges(
  log: readonly Publication[],
  changes: Pick<Publication, "publication">,
): Damage["cure"] {
  return isBeforeRestart(log, changes) ? "past" : "restart";
}

/** The snapshots that are published or held, and not retired. */
async function verifiable(store: AccountStore, log: readonly Publication[]): Promise<readonly string[]> {
  const published = keptSnapshots(log, await listSnapshots(store));
  const held = await heldSnapshots(store);
  return [...published.map(({ snapshot_id }) => snapshot_id), ...held.map(({ snapshotId }) => snapshotId)];
}

function outOfTime(): string {
  return "The snapshot has too many bytes to verify them within the time limit. What was read is undamaged. On a computer of your own nothing limits the time.";
}

/** Throws `STORE_CORRUPT` naming all that is damaged and counts, with what helps. */
function tellDamage(found: readonly Damage[], warn: Warn): void {
  const past = found.filter(({ cure }) => cure === "past");
  const counting = found.filter(({ cure }) => cure !== "past");
  const pastText = past.length === 0 ? "" : `${PAST} ${keysOf(past)}.`;
  const [first, ...others] = counting;
  if (first === undefined) {
    if (pastText !== "") warn(pastText);
    return;
  }
  const old = counting.flatMap(({ cure }) => (typeof cure === "object" ? [cure.retire] : []));
  const retire = [...new Set(old)]
    .slice(0, MAX_NAMED)
    .flatMap((snapshotId, index) => [index === 0 ? `${RETIRE} ` : "; ", command("retire", { snapshotId })]);
  const restart = counting.some(({ cure }) => cure === "restart") ? RESTART : undefined;
  const error = others.length === 0 ? first.error : severalDamaged(counting);
  throw error.with({ next: inOrder(restart, pastText, retire) });
}

const PAST = "Damaged, but before the last restart, so it counts no more:";
const RETIRE = "Without a backup, take each older snapshot that is damaged out of the tables:";

function severalDamaged(found: readonly Damage[]): SyncError {
  const keys = found.map(({ error }) => error.fields["key"]);
  return new SyncError("STORE_CORRUPT", `${keys.length} files are damaged: ${keysOf(found)}.`, {
    fields: { keys: keys.join(",") },
    next: "Restore them from a backup or from older versions of them.",
  });
}

/** The first of them. */
function keysOf(found: readonly Damage[]): string {
  const named = found.slice(0, MAX_NAMED).map(({ error }) => error.fields["key"]);
  return [...named, ...(found.length > MAX_NAMED ? [`and ${found.length - MAX_NAMED} more`] : [])].join(", ");
}
