// Something damages a file of the warehouse, takes it away, or puts one there that is not the program's.

import { gunzipSync, gzipSync } from "node:zlib";
import { Chance } from "../chance.ts";
import type { Damage } from "../plan/plan.ts";
import type { World } from "../world.ts";

const FOREIGN = Buffer.from("not a file of the program\n");

/** Only while nothing works on the account: what is damaged after the last look at it is seen by no program. */
export function applyDamage(world: World, { account: name, where, how, restoredAfterMs }: Damage): void {
  const { objects, story, timeline, plan } = world;
  const [account] = world.accountsOf(name);
  const isBusy = [...account.model.processes.values()].some(({ isOver }) => !isOver);
  if (isBusy || !world.hasFaults) return;
  const keys = objects
    .keys("")
    .filter((key) => (key.split("/")[1] ?? account.name) === account.name && key.includes(where))
    .filter((key) => !objects.damaged.includes(key));
  const [first, ...others] = keys.slice(-4);
  if (first === undefined) return;
  const chance = new Chance(plan.seed, `damage at ${timeline.nowMs}`);
  const key = chance.pick([first, ...others]);
  if (how === "foreign") {
    const beside = `${key.slice(0, key.lastIndexOf("/") + 1)}${chance.pick(["_note.txt", ".hidden", "_part-00000.ndjson.gz"])}`;
    objects.damage(beside, FOREIGN);
    story.tell("operator", `leaves ${beside}`);
    return;
  }
  // JSON may be as valid after a flip: it has no checksum.
  const done = how === "flip" && !/[.](?:gz|bin)$/.test(key) ? "cut" : how;
  const bytes = objects.get(key)?.bytes ?? new Uint8Array();
  // A flip in the header of a zipped file may mean nothing: so its content is damaged.
  const isZipped = key.endsWith(".gz");
  const damaged = damagedBytes(isZipped ? gunzipSync(bytes) : bytes, done);
  objects.damage(key, damaged && isZipped ? gzipSync(damaged) : damaged);
  story.tell("disk", `damages ${key}: ${done}`);
  if (restoredAfterMs === undefined) return;
  timeline.at(timeline.nowMs + restoredAfterMs, () => {
    objects.restore(key);
    story.tell("operator", `restores ${key}`);
  });
}

function damagedBytes(bytes: Uint8Array, how: "cut" | "flip" | "missing"): Uint8Array | undefined {
  if (how === "missing") return undefined;
  if (how === "cut") return bytes.slice(0, bytes.length >> 1);
  const flipped = Uint8Array.from(bytes);
  const at = flipped.length >> 1;
  flipped[at] = (flipped[at] ?? 0) ^ 0x55;
  return flipped;
}
