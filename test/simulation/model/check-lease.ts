// The lease: no process takes it from a process that lives, and a process that knows that it is lost writes nothing more.

import type { AccountStore } from "../../../lambdas/job/storage/store.ts";
import type { ObjectChange } from "../warehouse/objects.ts";
import { clockErrorMs, TOLERANCE_MS } from "./check-visibility.ts";
import type { Model } from "./model.ts";

const LENGTH_MS = 60_000;

interface Lease {
  readonly run_id: string | null;
  readonly holder: { readonly token: string } | null;
  readonly execution?: string;
}

function leaseIn(bytes: Uint8Array | undefined): Lease | undefined {
  try {
    return bytes && JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}

/** The lease is written: not over one that a living process has written within its length. */
export function checkTaken(model: Model, { before, after, by }: ObjectChange): void {
  const facts = model.processes.get(by);
  const [lease, taken] = [leaseIn(before?.bytes), leaseIn(after?.bytes)];
  const holder = model.leaseBy;
  const owner = holder && model.processes.get(holder.process);
  const sentAtMs = model.leaseSentAtMs.get(by) ?? model.world.timeline.nowMs;
  model.leaseBy = taken?.run_id ? { process: by, sentAtMs } : undefined;
  // The frozen version goes by the clock of its own computer.
  const isToday = facts?.version === "today" && owner?.version === "today";
  if (!isToday || lease?.run_id == null || lease.execution !== undefined) return;
  if (facts === owner || owner?.isOver || clockErrorMs(model.world) > TOLERANCE_MS) return;
  if (model.world.timeline.nowMs - (holder?.sentAtMs ?? 0) < LENGTH_MS)
    model.fail(`${by} takes the lease of ${owner?.name}, which lives`);
}

/**
 * What the process writes from now on is checked: it knows of a loss once it has read another's lease, and must find out
 * where it has not written its own for its length.
 */
export function watchWrites(model: Model, name: string, store: AccountStore): AccountStore {
  let own: string | undefined;
  let isLost = false;
  let sentAtMs = 0;
  const now = (): number => model.world.timeline.nowMs;
  const isOwn = (stored: { readonly bytes: Uint8Array } | undefined): boolean => {
    const found = leaseIn(stored?.bytes);
    return stored !== undefined && (found === undefined || found.holder?.token === own);
  };
  const sends = (key: string): number => {
    if (key === store.keys.lease) model.leaseSentAtMs.set(name, now());
    return now();
  };
  const ownTaken = (bytes: unknown, atMs: number): void => {
    if (bytes instanceof Uint8Array) own = leaseIn(bytes)?.holder?.token;
    sentAtMs = atMs;
  };
  /**
   * An attempt's own line, and the outcome of what is published, are true also without the lease; `check` tries the store
   * without it.
   */
  const mayWrite = (key: string, body?: unknown): boolean =>
    key === store.keys.lease ||
    key.startsWith(store.keys.runLogs) ||
    key.startsWith(store.keys.writeCheck("").slice(0, -".json".length)) ||
    (key.endsWith("/outcome.json") &&
      body instanceof Uint8Array &&
      JSON.parse(Buffer.from(body).toString()).row.outcome === "PUBLISHED");
  const check = (verb: string, key: string, body?: unknown): void => {
    if (own === undefined || model.processes.get(name)?.version !== "today" || mayWrite(key, body)) return;
    if (isLost) model.fail(`${name} ${verb} ${key}, and knows that it has lost the lease`);
    const isOverdue = now() - sentAtMs >= LENGTH_MS && !isOwn(model.world.objects.get(store.keys.lease));
    if (isOverdue) model.fail(`${name} ${verb} ${key}, and does not ask whether it still has the lease`);
  };
  return {
    ...store,
    read: async (key) => {
      const stored = await store.read(key);
      if (own !== undefined && key === store.keys.lease) isLost ||= !isOwn(stored);
      return stored;
    },
    create: async (key, body) => {
      check("creates", key, body);
      const atMs = sends(key);
      const version = await store.create(key, body);
      if (key === store.keys.lease && version !== undefined) ownTaken(body, atMs);
      return version;
    },
    copy: (from, to) => {
      check("copies to", to);
      return store.copy(from, to);
    },
    replace: async (key, bytes, before) => {
      check("replaces", key);
      const atMs = sends(key);
      const version = await store.replace(key, bytes, before);
      if (key === store.keys.lease && version !== undefined) ownTaken(bytes, atMs);
      return version;
    },
    delete: (keys) => {
      // Version 0.1 names one key.
      for (const key of [keys].flat()) check("deletes", key);
      return store.delete(keys);
    },
  };
}
