// `status`: when the data is from, which run is active, what is held and why, what the last runs did; of one account or
// of all.

import { type AccountStatus, type Status, status } from "../../../lambdas/job/commands/status.ts";
import type { HeldSnapshot } from "../../../lambdas/job/run/publish/held-snapshots.ts";
import { isRun, type RunLogEntry } from "../../../lambdas/job/run/record/run-log.ts";
import { durationText } from "../../../lambdas/job/run/record/texts.ts";
import { isFuture } from "../../../lambdas/job/runtime/clock.ts";
import { mapOrdered } from "../../../lambdas/job/runtime/map-ordered.ts";
import { abortable } from "../../../lambdas/job/runtime/on-abort.ts";
import { describeFieldChanges } from "../../../lambdas/job/snapshot/fields/field-changes.ts";
import { knownAccounts, orDamage } from "../../../lambdas/job/storage/known-accounts.ts";
import { readHead } from "../../../lambdas/job/storage/publication-log.ts";
import { type AccountStore, accountStore, type Store } from "../../../lambdas/job/storage/store.ts";
import { explained, heldCommands } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL, type Style, sayError } from "../../../lambdas/words/style.ts";
import { type OptionValues, PLACE_OPTIONS, WAREHOUSE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import {
  cameTo,
  describeHead,
  describeHeld,
  describeTrouble,
  heldJson,
  madeAtMs,
  outcomeWord,
  publishableOf,
  running,
  statusTable,
  troubleOf,
  URGENCY,
  urgencyOf,
} from "../output/describe-status.ts";
import { EXIT } from "../output/exit-code.ts";
import { type StyleHere, styleOf } from "../output/next-command.ts";
import { formatTable } from "../output/table.ts";
import type { Output } from "../output/terminal.ts";
import { age, minute, plural, throttledText, whereText } from "../output/words.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import {
  damagedAccountText,
  openWarehouse,
  refuseUnknownAccount,
  warehouseAccounts,
} from "../wiring/open-warehouse.ts";

const OPTIONS = [...PLACE_OPTIONS, "maxAge", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const statusCommand = command({
  name: "status",
  group: "Every day",
  summary:
    "show how old the data is, what is held and what the last runs did; without --account for all accounts",
  options: OPTIONS,
  ofAll: true,
  example: "status --account uk",
  execute: async (values, context) => {
    const { signal } = context;
    const nowMs = context.clock.now();
    const { store } = await openWarehouse(values, context);
    const isOne = context.given.has("account");
    const reading = isOne
      ? statusOfOne(store, values, nowMs).then((one) => [one])
      : statusOfAll(store, values, nowMs, signal);
    const found = await abortable<readonly AccountStatus[]>(reading, signal);
    if (values.json) {
      const objects = found.map((one) => asJson(one, styleOf(context.given.ofAccount(one.account))));
      context.stdout.json(isOne ? objects[0] : { accounts: objects });
    } else print(context, found, nowMs, values);
    if (isOne) await abortable(nameDamaged(accountStore(store, values.account), context), signal);
    return report(context, found, nowMs, values);
  },
});

/** A status is some ten small reads, one after the other. */
const AT_ONCE = 8;

/** Reads only. In the order of the accounts. Throws `STORE_FAILED`, or the signal's reason. */
async function statusOfAll(
  store: Store,
  values: Values,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly AccountStatus[]> {
  const accounts = await warehouseAccounts(store, values);
  const statusOf = (account: string): Promise<AccountStatus> =>
    orDamage(account, () => status(accountStore(store, account), nowMs));
  return Array.fromAsync(mapOrdered(accounts, statusOf, { concurrency: AT_ONCE, signal }));
}

async function statusOfOne(all: Store, { account, config }: Values, nowMs: number): Promise<Status> {
  const store = accountStore(all, account);
  const found = await status(store, nowMs);
  const { head, lease, held, runs } = found;
  const isUnknown = !head && !lease && held.length + runs.length === 0;
  if (isUnknown && !config?.accounts.includes(account)) await refuseUnknownAccount(store);
  return found;
}

/** Names the damaged accounts. Of the others only the log is looked at. */
async function nameDamaged(store: AccountStore, { stderr }: Output): Promise<void> {
  for (const other of await knownAccounts(store)) {
    if (other === store.account) continue;
    const head = await orDamage(other, () => readHead(accountStore(store, other)));
    if (head && "damage" in head) stderr.message(damagedAccountText(head));
  }
}

function asJson(one: AccountStatus, style: StyleHere): object {
  if ("damage" in one) {
    const { code } = one.damage;
    return { account: one.account, error_code: code, error_message: sayError(one.damage, ANY_SHELL) };
  }
  const { account, head, lease, held, runs, doubt } = one;
  const isPinned = head?.pinned === true;
  return {
    account,
    head,
    lease,
    held: held.map(({ snapshotId }) => snapshotId),
    ...(held.length === 0
      ? {}
      : { held_snapshots: held.map((each) => heldJson({ ...each, isPinned }, style)) }),
    runs,
    doubt: style.doubt(doubt) ?? null,
  };
}

/** A warehouse with one account is described as that account is. */
function print(
  { stdout, given }: CommandContext,
  found: readonly AccountStatus[],
  nowMs: number,
  values: Values,
): void {
  const [only, ...others] = found;
  if (only !== undefined && others.length === 0) {
    if ("damage" in only) return;
    const own = given.ofAccount(only.account);
    const limit = own.read(["account", "requestsPerMinute"]);
    const style = styleOf(own);
    stdout.lines(describeStatus(only, nowMs, { ...values, ...limit }, style));
    stdout.lines([...doubtLine(only, style), ...troubleLine(only, style)]);
    return;
  }
  const { width } = stdout;
  stdout.text(formatTable(statusTable(found, nowMs, width), { width, whole: "--json" }));
  const first = mostUrgent(found);
  const words = ["status", "--account", first?.account ?? ""];
  const more =
    first === undefined || urgencyOf(first) === "well"
      ? "One account with its last runs"
      : `The account ${first.account} needs attention`;
  stdout.lines([
    ...found.flatMap((one) =>
      "damage" in one ? [] : attentionLines(one, styleOf(given.ofAccount(one.account))),
    ),
    `In ${whereText(values)}`,
    `${more}: ${commandLineText(words, WAREHOUSE_OPTIONS, values)}`,
  ]);
}

/** Of several that are equally urgent, the one with the oldest data. */
function mostUrgent(found: readonly AccountStatus[]): AccountStatus | undefined {
  const dataMs = (one: AccountStatus): number => ("damage" in one || !one.head ? 0 : madeAtMs(one.head));
  const rank = (one: AccountStatus): number => URGENCY.indexOf(urgencyOf(one));
  return found.toSorted((a, b) => rank(a) - rank(b) || dataMs(a) - dataMs(b))[0];
}

/** Each account's, where there is something to decide or to do, with the commands. */
function attentionLines(one: Status, style: StyleHere): readonly string[] {
  const { account } = one;
  const newest = publishableOf(one).at(-1);
  const held = newest === undefined ? [] : heldLines(account, newest, style);
  const others = [...doubtLine(one, style), ...troubleLine(one, style)].map((line) => `${account}: ${line}`);
  return [...held, ...others];
}

function heldLines(account: string, one: HeldSnapshot, style: Style): readonly string[] {
  const { diff, accept } = heldCommands(one.snapshotId, style);
  return [
    `${account}: held (${one.reason}). ${explained({ ...one, hold: one.facts }, style)}`,
    `  look at it: ${diff}`,
    `  publish it anyway: ${accept}`,
  ];
}

/** Damage weighs more than age. */
function report({ stderr }: Output, found: readonly AccountStatus[], nowMs: number, values: Values): number {
  const damaged = found.filter((one) => "damage" in one);
  for (const { account, damage } of damaged) {
    stderr.message(`${damage.code}: the account ${account}: ${sayError(damage, ANY_SHELL)}`);
  }
  const old = tooOld(found, values.maxAge, nowMs);
  if (old !== undefined) stderr.message(old);
  if (damaged.length > 0) return EXIT.failed;
  return old === undefined ? EXIT.done : EXIT.tooOld;
}

function describeStatus(
  found: Status,
  nowMs: number,
  values: OptionValues<"config" | "warehouse" | "requestsPerMinute">,
  style: Style,
): readonly string[] {
  const { account, head, lease, held, runs, fieldChanges } = found;
  const lines = [`account ${account}`, ...describeHead(head ?? undefined, nowMs)];
  lines.push(`  warehouse    ${whereText(values)}`);
  lines.push(`  running      ${lease ? running(lease) : "none"}`);
  const last = runs.find(({ trigger }) => isRun(trigger));
  if (last?.throttled) lines.push(`  last run     ${throttledText(last, values.requestsPerMinute, style)}`);
  const [newest, ...earlier] = publishableOf(found).toReversed();
  if (newest) {
    lines.push(
      `  held         ${newest.snapshotId} (${newest.reason}): ${explained({ ...newest, hold: newest.facts }, style)}`,
    );
    const judged = describeHeld(
      { ...newest, isPinned: head?.pinned === true },
      head?.snapshot_id ?? null,
      style,
    );
    lines.push(...judged.map((line) => `               ${line}`));
  }
  if (earlier.length > 0) {
    const named = earlier.map(({ snapshotId, reason }) => `${snapshotId} (${reason})`).join(", ");
    lines.push(`  held         ${plural(earlier.length, "earlier snapshot")}: ${named}`);
  }
  for (const line of fieldChanges ? describeFieldChanges(fieldChanges) : [])
    lines.push(`  fields       ${line}`);
  const older = held.length - publishableOf(found).length;
  if (older > 0) lines.push(`  held         ${plural(older, "snapshot")} older than what readers see`);
  if (runs.length > 0) lines.push("last runs, newest first", ...runs.map((row) => describeRun(row, nowMs)));
  return lines;
}

function doubtLine({ doubt }: Status, style: StyleHere): readonly string[] {
  const said = style.doubt(doubt);
  return said === undefined ? [] : [said];
}

/** None where the last run did its work. */
function troubleLine(one: Status, style: StyleHere): readonly string[] {
  const trouble = troubleOf(one);
  return trouble ? [describeTrouble(trouble, style, one.next)] : [];
}

function describeRun(row: RunLogEntry, nowMs: number): string {
  const name = isRun(row.trigger) ? "" : ` by ${row.trigger}`;
  const took = durationText(row.seconds * 1000).padStart(7);
  const startedAt = Date.parse(row.started_at);
  const mark = isFuture(startedAt, nowMs) ? `, ${age(startedAt, nowMs)}` : "";
  return `  ${minute(startedAt)}  ${outcomeWord(row).padEnd(11)} ${took}  ${cameTo(row)}${name}${mark}`.trimEnd();
}

/**
 * A line that names them, or undefined where there is none. Data are as old as their snapshot's id says; an account
 * without a publication is too old, and so is one of the future, whose age is not known. A damaged account is another matter.
 */
function tooOld(
  found: readonly AccountStatus[],
  maxAgeHours: number | undefined,
  nowMs: number,
): string | undefined {
  if (maxAgeHours === undefined) return undefined;
  const named = found.flatMap((one) => {
    if ("damage" in one) return [];
    const { account, head } = one;
    if (head === null) return [`${account} (nothing is published)`];
    const madeAt = madeAtMs(head);
    const isRecent = nowMs - madeAt <= maxAgeHours * HOUR_MS && !isFuture(madeAt, nowMs);
    if (isRecent) return [];
    return [`${account} (of ${minute(madeAt)}, ${age(madeAt, nowMs)})`];
  });
  return named.length === 0 ? undefined : `older than ${maxAgeHours} h: ${named.join(", ")}`;
}

const HOUR_MS = 60 * 60 * 1000;
