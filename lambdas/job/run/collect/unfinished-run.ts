// Looks for work that an earlier start has left: a plan, and what is staged of it.

import { createHash } from "node:crypto";
import { type Advice, advise, inOrder, type SettingRef, setting } from "../../errors/advice.ts";
import { SyncError, undefinedIfDamaged } from "../../errors/sync-error.ts";
import { isFuture } from "../../runtime/clock.ts";
import { type LiftedColumn, liftText, parseLiftedColumn } from "../../settings/lifted-column.ts";
import { eventColumns } from "../../snapshot/rows/lifted-column.ts";
import { Chain } from "../../snapshot/staging/chain.ts";
import { type Plan, readPlan, type ShapingSettings } from "../../snapshot/staging/plan.ts";
import { isOfLayout, runInstant } from "../../storage/layout.ts";
import type { Publication } from "../../storage/publication.ts";
import { findPublication, type LogEnd } from "../../storage/publication-log.ts";
import type { AccountStore, StoredKey } from "../../storage/store.ts";
import { supersededPlan } from "../publish/superseded.ts";
import { recordPublishedRun } from "../record/published-run.ts";
import { OTHER_VERSION_TEXT, StartSkipped } from "../record/run-result.ts";
import { countText } from "../record/texts.ts";
import type { RunSession } from "../run-session.ts";
import type { RunSettings } from "../run-settings.ts";

/** A run that has a plan but is not finished. */
interface UnfinishedRun {
  readonly plan: Plan;
  /** All of its files. */
  readonly files: readonly StoredKey[];
}

type Columns = readonly LiftedColumn[];
type ColumnsByFingerprint = ReadonlyMap<string, Columns>;

/**
 * What this run has left, or another one that a manual start may continue, which the session then adopts. Throws
 * `StartSkipped` where another version of the program has planned this run, whose files stay as they are, and
 * `CONFIG_INVALID` where settings that shape rows have changed since this run was planned.
 * @param possible the columns that an unfinished run may have, those of a new run first; the session uses the ones that
 * it has
 */
export async function findUnfinished(
  session: RunSession,
  end: LogEnd,
  mayAdopt: boolean,
  possible: readonly Columns[],
): Promise<Chain | undefined> {
  const { ports, settings, attempt } = session;
  const { store, logger } = ports;
  const columnsBy = new Map(
    possible.map((lifted) => [fingerprint(store.account, { ...settings, lifted }), lifted] as const),
  );
  const files = await Array.fromAsync(store.list(store.keys.run(attempt.runId)));
  const own = await open(store, attempt.runId, files);
  if (own === "OTHER_VERSION")
    throw new StartSkipped(own, `The run ${attempt.runId} ${OTHER_VERSION_TEXT}.`, [
      "Start a new run; it fetches all events again.",
    ]);
  const found = own ?? (mayAdopt ? await findAdoptable(session, end, columnsBy) : undefined);
  if (found === undefined) return undefined;

  const { plan } = found;
  const columns = columnsBy.get(plan.header.fingerprint);
  if (columns === undefined) throw otherShape(attempt.runId);
  if (found !== own) await session.adopt(plan.header.run_id);
  session.useColumns(columns);
  session.isPlanned = true;
  const chain = await Chain.read(store, plan, found.files);
  const done = `${countText(chain.end)} of ${countText(plan.header.events)} done`;
  logger.info(`continues ${attempt.runId}, ${done}`);
  return chain;
}

function otherShape(runId: string): SyncError {
  return new SyncError(
    "CONFIG_INVALID",
    `Settings that shape rows (the address of the service, pointers, which events are listed, the next page, columns) have changed since the run ${runId} began, so its staged work cannot be used.`,
    { fields: { run_id: runId }, next: "Start a new run." },
  );
}

interface PassedOver {
  readonly runId: string;
  readonly found: UnfinishedRun | "OTHER_VERSION";
  /** Why it is not continued, if not for its version. */
  readonly reason: "old" | "no restart" | "other settings";
}

/** The newest unfinished run of the account that a manual start may continue. Where there is none, says why. */
async function findAdoptable(
  { ports, settings, overDamaged }: RunSession,
  { head }: LogEnd,
  columnsBy: ColumnsByFingerprint,
): Promise<UnfinishedRun | undefined> {
  const { store, clock, logger, words } = ports;
  const progressSinceMs = clock.now() - settings.resumeWithinMinutes * 60_000;
  const prefix = store.keys.runs;
  // Only a later run can still be published. From the head's own run on: it may have crashed right after its publication.
  const isPast = ({ snapshot_id: id }: Publication): boolean => !isFuture(runInstant(id) ?? 0, clock.now());
  // Nearly always the head itself, which is not searched for once more.
  const base = head && !isPast(head) ? await findPublication(store, isPast) : head;
  const after = base?.snapshot_id;
  const files = await Array.fromAsync(store.list(prefix, after && `${prefix}${after}/`));
  const byRun = Map.groupBy(
    files.filter(({ key }) => isOfLayout(key)),
    ({ key }) => key.slice(prefix.length).split("/")[0] ?? "",
  );
  let passedOver: PassedOver | undefined;
  for (const [runId, files] of [...byRun].reverse()) {
    if (files.some(({ key }) => key === store.keys.outcome(runId))) continue;
    if (Math.max(...files.map(({ modifiedAtMs }) => modifiedAtMs)) < progressSinceMs) {
      if (runId === after || passedOver) continue;
      // A damaged one too is nothing that anybody needs.
      const found = await open(store, runId, files).catch(undefinedIfDamaged);
      if (found) passedOver = { runId, found, reason: "old" };
      continue;
    }
    if (await recordPublishedRun(ports, runId)) continue;
    const found = await open(store, runId, files);
    if (typeof found === "object" && (await supersededPlan(store, head, found.plan.header))) continue;
    // What a run that is no restart has written of its changes would stand in the way of a restart's.
    const isOther = typeof found === "object" && overDamaged && found.plan.header.restart !== true;
    if (typeof found === "object" && !isOther && columnsBy.has(found.plan.header.fingerprint)) return found;
    if (found) passedOver ??= { runId, found, reason: isOther ? "no restart" : "other settings" };
  }
  const [lifted = []] = columnsBy.values();
  if (passedOver) logger.info(words.say(await whyPassedOver(store, passedOver, { ...settings, lifted })));
  return undefined;
}

/** `continues nothing: the run … has other settings that shape rows; run --lift brand=/brand continues its 120 of 500 events`. */
async function whyPassedOver(
  store: AccountStore,
  { runId, found, reason }: PassedOver,
  settings: RunSettings,
): Promise<Advice> {
  if (found === "OTHER_VERSION") return [`continues nothing: the run ${runId} ${OTHER_VERSION_TEXT}`];
  const { plan, files } = found;
  const { shape, events } = plan.header;
  const chain = await Chain.read(store, plan, files).catch(undefinedIfDamaged);
  const its = `its ${countText(chain?.end ?? 0)} of ${countText(events)} events`;
  if (reason === "old") {
    return advise`continues nothing: the last progress of the run ${runId} is older than ${settings.resumeWithinMinutes} minutes; with a longer ${setting("resumeWithinMinutes")} a run continues ${its}`;
  }
  if (reason === "no restart") {
    return [
      `continues nothing: the run ${runId} was begun as no restart; a run that is none continues ${its}`,
    ];
  }
  const others = shape === undefined ? [] : otherSettings(shape, shapeOf(settings));
  const remedy = others.length === 0 ? "a run with its settings" : advise`a run ${others}`;
  return advise`continues nothing: the run ${runId} has other settings that shape rows; ${remedy} continues ${its}`;
}

const SHAPING = {
  base_url: "baseUrl",
  is_listed: "isListed",
  list_pointer: "listPointer",
  next_page: "nextPage",
  detail_pointer: "detailPointer",
} as const;

/** `with` and `without` the settings that would give again what the plan has otherwise. */
function otherSettings(planned: ShapingSettings, now: ShapingSettings): Advice {
  const keys = Object.keys(SHAPING) as readonly (keyof typeof SHAPING)[];
  const isLift = planned.lift.join("\n") !== now.lift.join("\n");
  const lifted = planned.lift.length === 0 ? undefined : planned.lift.map(parseLiftedColumn);
  const changed = [
    ...keys
      .filter((key) => planned[key] !== now[key])
      .map((key) => setting(SHAPING[key], planned[key] ?? undefined)),
    ...(isLift ? [setting("lifted", lifted)] : []),
  ];
  const { given = [], none = [] } = Object.groupBy(changed, ({ value }) =>
    value === undefined ? "none" : "given",
  );
  const listed = (word: string, refs: readonly SettingRef[]): Advice =>
    refs.length === 0 ? [] : [word, ...refs.flatMap((ref) => [" ", ref])];
  return inOrder(listed("with", given), listed("without", none));
}

/** What a plan says of the settings that shape rows. */
export function shapeOfPlan(
  account: string,
  settings: RunSettings,
): { readonly fingerprint: string; readonly shape: ShapingSettings } {
  return { fingerprint: fingerprint(account, settings), shape: shapeOf(settings) };
}

function shapeOf({
  baseUrl,
  isListed,
  listPointer,
  nextPage,
  detailPointer,
  lifted,
}: RunSettings): ShapingSettings {
  return {
    base_url: baseUrl,
    is_listed: isListed,
    list_pointer: listPointer ?? null,
    ...(isAsUnset(nextPage) ? {} : { next_page: nextPage }),
    detail_pointer: detailPointer ?? null,
    lift: lifted.map(liftText),
  };
}

/** `all` answers a doubt, and changes nothing of what is read: a run that began without it goes on. */
function isAsUnset(nextPage: RunSettings["nextPage"]): nextPage is "all" | undefined {
  return nextPage === undefined || nextPage === "all";
}

async function open(
  store: AccountStore,
  runId: string,
  files: readonly StoredKey[],
): Promise<UnfinishedRun | "OTHER_VERSION" | undefined> {
  const planKey = store.keys.plan(runId);
  if (!files.some(({ key }) => key === planKey)) return undefined;
  const plan = await readPlan(store, planKey);
  return plan === undefined ? "OTHER_VERSION" : { plan, files: files.filter(({ key }) => isOfLayout(key)) };
}

/** SHA-256 in hex. Contains no credentials: the account's name stands for them. */
function fingerprint(account: string, settings: RunSettings): string {
  const { baseUrl, isListed, listPointer, nextPage, detailPointer, lifted } = settings;
  const shaping = [
    // Always there, so that the plans of earlier versions are known by theirs.
    1,
    eventColumns(lifted),
    lifted.map(({ pointer }) => pointer),
    account,
    baseUrl,
    isListed,
    listPointer ?? null,
    detailPointer ?? null,
    // Absent in fingerprints of earlier versions.
    ...(isAsUnset(nextPage) ? [] : [nextPage]),
  ];
  return createHash("sha256").update(JSON.stringify(shaping)).digest("hex");
}
