// Looks for work that an earlier start has left: a plan, and what is staged of it.

import { createHash } from "node:crypto";
import { shellWord } from "../../errors/shown-text.ts";
import { isDamage, SyncError } from "../../errors/sync-error.ts";
import { eventColumns, liftText } from "../../snapshot/rows/lifted-column.ts";
import { Chain } from "../../snapshot/staging/chain.ts";
import { type Plan, readPlan, type Shape } from "../../snapshot/staging/plan.ts";
import { isOfLayout } from "../../storage/layout.ts";
import type { AccountStore, StoredKey } from "../../storage/store.ts";
import { countText } from "../record/count-text.ts";
import type { RunSettings } from "../run-settings.ts";

/** A run that has a plan but is not finished. */
export interface UnfinishedRun {
  readonly plan: Plan;
  /** All of its files. */
  readonly files: readonly StoredKey[];
}

/**
 * What this run has left. "other-version" where another version of the program has planned it: its work cannot be
 * continued. Throws `CONFIG_INVALID` when settings that shape rows have changed since.
 */
export async function findOwnWork(
  store: AccountStore,
  runId: string,
  fingerprints: ReadonlySet<string>,
): Promise<UnfinishedRun | "other-version" | undefined> {
  const files = await Array.fromAsync(store.list(store.keys.run(runId)));
  const unfinished = await open(store, runId, files);
  if (typeof unfinished === "object" && !fingerprints.has(unfinished.plan.header.fingerprint)) {
    throw new SyncError(
      "CONFIG_INVALID",
      `Settings that shape rows (base URL, pointers, is-listed, lifted columns) have changed since the run ${runId} began, so its staged work cannot be used. Start a new run.`,
      { fields: { run_id: runId } },
    );
  }
  return unfinished;
}

interface AdoptionTerms {
  /** Of the settings, with each list of columns that an unfinished run may have. */
  readonly fingerprints: ReadonlySet<string>;
  /** The snapshot that readers see, or the removal: only a later run can still be published. */
  readonly after: string | undefined;
  /** Only a run that wrote something at or after this instant, in milliseconds since the Unix epoch. */
  readonly progressSinceMs: number;
  /** Records the outcome of a run that was published but not recorded, and returns true; false for any other run. */
  readonly settle: (runId: string) => Promise<boolean>;
  /** Called, where nothing is continued, with why the newest unfinished run is not. */
  readonly onPassedOver: (why: string) => void;
  readonly settings: RunSettings;
}

type PassedOver = UnfinishedRun & { readonly isOld: boolean };

/** The newest unfinished run of the account that a manual start may continue. */
export async function findAdoptable(
  store: AccountStore,
  terms: AdoptionTerms,
): Promise<UnfinishedRun | undefined> {
  const byRun = new Map<string, StoredKey[]>();
  const prefix = store.keys.runs;
  // From the head's own run on: it may have crashed right after its publication.
  const after = terms.after === undefined ? undefined : `${prefix}${terms.after}/`;
  for await (const file of store.list(prefix, after)) {
    if (!isOfLayout(file.key)) continue;
    const runId = file.key.slice(prefix.length).split("/")[0] ?? "";
    const files = byRun.get(runId);
    if (files) files.push(file);
    else byRun.set(runId, [file]);
  }
  let passedOver: PassedOver | undefined;
  for (const [runId, files] of [...byRun].reverse()) {
    const finished = files.some(({ key }) => key === store.keys.outcome(runId));
    const progressMs = files.reduce((latest, file) => Math.max(latest, file.modifiedAtMs), 0);
    if (finished) continue;
    if (progressMs < terms.progressSinceMs) {
      const old = runId === terms.after || passedOver ? undefined : await openOld(store, runId, files);
      if (old) passedOver = { ...old, isOld: true };
      continue;
    }
    if ((await terms.settle(runId)) || runId === terms.after) continue;
    const unfinished = await open(store, runId, files);
    if (typeof unfinished !== "object") continue;
    if (terms.fingerprints.has(unfinished.plan.header.fingerprint)) return unfinished;
    passedOver ??= { ...unfinished, isOld: false };
  }
  if (passedOver) terms.onPassedOver(await whyPassedOver(store, passedOver, terms.settings));
  return undefined;
}

/** Undefined where it is of another version, or damaged: nothing needs it. */
async function openOld(
  store: AccountStore,
  runId: string,
  files: readonly StoredKey[],
): Promise<UnfinishedRun | undefined> {
  try {
    const found = await open(store, runId, files);
    return typeof found === "object" ? found : undefined;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}

/** `continues nothing: the run … has other columns; run --lift brand=/brand continues its 120 of 500 events`. */
async function whyPassedOver(
  store: AccountStore,
  { plan, files, isOld }: PassedOver,
  settings: RunSettings,
): Promise<string> {
  const { run_id: runId, shape, events } = plan.header;
  const done = await Chain.read(store, plan, files).then(
    ({ end }) => end,
    (error: unknown) => {
      if (!isDamage(error)) throw error;
      return 0;
    },
  );
  const its = `its ${countText(done)} of ${countText(events)} events`;
  if (isOld) {
    return `continues nothing: the last progress of the run ${runId} is older than --resume-within (${settings.resumeWithinMinutes} minutes); with more minutes a run continues ${its}`;
  }
  const others = shape === undefined ? [] : differences(shape, shapeOf(settings));
  const what = others.map(([name]) => name).join(" and ") || "other settings that shape rows";
  const remedy =
    others.length === 0 ? "a run with its settings" : `run ${others.map(([, how]) => how).join(" ")}`;
  return `continues nothing: the run ${runId} has ${what}; ${remedy} continues ${its}`;
}

/** What the plan has otherwise, and the option that would give it again. */
function differences(planned: Shape, now: Shape): readonly (readonly [what: string, how: string])[] {
  const how = (flag: string, values: readonly string[]): string =>
    values.length === 0 ? `without ${flag}` : values.map((value) => `${flag} ${shellWord(value)}`).join(" ");
  const of = (value: string | null): readonly string[] => (value === null ? [] : [value]);
  const all = [
    ["another address", "--base-url", [planned.base_url], [now.base_url]],
    ["another filter", "--is-listed", [planned.is_listed], [now.is_listed]],
    ["another list pointer", "--list-pointer", of(planned.list_pointer), of(now.list_pointer)],
    ["another detail pointer", "--detail-pointer", of(planned.detail_pointer), of(now.detail_pointer)],
    ["other columns", "--lift", planned.lift, now.lift],
  ] as const;
  return all.flatMap(([what, flag, before, after]) =>
    before.join("\n") === after.join("\n") ? [] : [[what, how(flag, before)] as const],
  );
}

export function shapeOf({ baseUrl, isListed, listPointer, detailPointer, lifted }: RunSettings): Shape {
  return {
    base_url: baseUrl,
    is_listed: isListed,
    list_pointer: listPointer ?? null,
    detail_pointer: detailPointer ?? null,
    lift: lifted.map(liftText),
  };
}

async function open(
  store: AccountStore,
  runId: string,
  files: readonly StoredKey[],
): Promise<UnfinishedRun | "other-version" | undefined> {
  const planKey = store.keys.plan(runId);
  if (!files.some(({ key }) => key === planKey)) return undefined;
  const plan = await readPlan(store, planKey);
  return plan === undefined ? "other-version" : { plan, files: files.filter(({ key }) => isOfLayout(key)) };
}

/** Raise it when the same responses of the service would give other rows than before. */
const ROW_FORMAT = 1;

/** SHA-256 in hex. Contains no credentials: the account's name stands for them. */
export function fingerprint(settings: RunSettings): string {
  const { account, baseUrl, isListed, listPointer, detailPointer, lifted } = settings;
  const shaping = [
    ROW_FORMAT,
    eventColumns(lifted),
    lifted.map(({ pointer }) => pointer),
    account,
    baseUrl,
    isListed,
    listPointer ?? null,
    detailPointer ?? null,
  ];
  return createHash("sha256").update(JSON.stringify(shaping)).digest("hex");
}
