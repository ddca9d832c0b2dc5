// What a person sees of histories: a line of figures, or the shrunk story of a failure.

import type { Item } from "./plan/plan.ts";
import type { History } from "./simulate.ts";

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
