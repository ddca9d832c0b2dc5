// A failure as a person sees it: its plan made small, by leaving out what it does not need, and the end of its story.

import type { Item, Plan, Setting } from "./plan/plan.ts";
import { type History, simulate } from "./simulate.ts";

/** The smallest plan found, lived again. Each way to leave out is tried in halves first, then one by one. */
export async function shrink(failed: History): Promise<History> {
  let smallest = failed;
  const tryPlan = async (plan: Plan): Promise<boolean> => {
    const history = await simulate(plan);
    if (history.violation === undefined) return false;
    smallest = history;
    return true;
  };
  for (let size = Math.ceil(failed.plan.items.length / 2); size >= 1; ) {
    const { items } = smallest.plan;
    let hasShrunk = false;
    for (let at = 0; at < items.length && !hasShrunk; at += size) {
      const left = items.filter((_, index) => index < at || index >= at + size);
      hasShrunk = await tryPlan({ ...smallest.plan, items: left });
    }
    if (!hasShrunk) size = size === 1 ? 0 : Math.ceil(size / 2);
  }
  for (const simpler of SIMPLER_SETTINGS) {
    const { plan } = smallest;
    await tryPlan({ ...plan, setting: { ...plan.setting, ...simpler } });
  }
  for (const items of withoutSecondDeliveries(smallest.plan)) await tryPlan({ ...smallest.plan, items });
  return smallest;
}

const SIMPLER_SETTINGS: readonly Partial<Setting>[] = [
  { session: { maxAgeMs: undefined, maxRequests: undefined, exclusive: false, ends: 401, isOpen: false } },
  { knownAfterMs: 0 },
  { stricterRequestsPerMinute: undefined },
  { bytesPerMinute: "unlimited" },
  { requestsPerMinute: "unlimited" },
  { pageSize: undefined },
  { paging: "link" },
  { isPagingKnown: true },
  { behindLast: undefined },
  { wording: 0 },
  { isShuffled: false },
  { concurrency: 1 },
  { latencyMs: 1 },
  { catalogLagMs: 0 },
  { retainDays: undefined },
  { events: 1 },
  { warehouse: "directory" },
  { accounts: ["uk"] },
  { hasTwoVersions: false },
  { method: "basic" },
];

function* withoutSecondDeliveries({ items }: Plan): Generator<readonly Item[]> {
  for (const [index, item] of items.entries()) {
    if (item.kind !== "start" || item.againAfterMs === undefined) continue;
    const { againAfterMs: _, ...once } = item;
    yield items.with(index, once);
  }
}

const LAST_LINES = 40;

export function failureText(failed: History, shrunk: History): string {
  const { seed } = failed.plan;
  const { items, setting } = shrunk.plan;
  const last = shrunk.story.slice(-LAST_LINES);
  return [
    headline(failed),
    `Shrunk from ${failed.plan.items.length} to ${items.length} items: ${shrunk.violation}`,
    "",
    `The world: ${textOf(setting)}`,
    ...items.map((item) => `  ${itemText(item)}`),
    "",
    `The last ${last.length} of ${shrunk.story.length} steps:`,
    ...last.map((line) => `  ${line}`),
    "",
    `All of it, before shrinking: npm run simulate -- --seed ${seed} --trace`,
  ].join("\n");
}

export function headline({ plan, violation }: History): string {
  return `Seed ${plan.seed} breaks a promise: ${violation}`;
}

function itemText(item: Item): string {
  const { kind, ...rest } = item;
  return `${kind} ${textOf(rest)}`;
}

/** JSON without what only a parser needs. */
function textOf(value: object): string {
  return JSON.stringify(value).replaceAll('"', "").replaceAll(",", ", ").slice(1, -1);
}
