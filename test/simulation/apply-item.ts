// What an item of the plan does to the service, or to a file of the warehouse.

import { gunzipSync, gzipSync } from "node:zlib";
import type { Account } from "./account.ts";
import { Chance } from "./chance.ts";
import type { Change, Damage } from "./plan/plan.ts";
import type { World } from "./world.ts";

export function applyChange(world: World, { account: name, change }: Change): void {
  const { timeline, story } = world;
  const [account] = world.accountsOf(name);
  const { service } = account;
  const { content } = service;
  const some = (share: number): readonly string[] => listedByChance(world, account, share);
  const { nowMs } = timeline;
  story.tell(`service of ${account.name}`, `changes: ${JSON.stringify(change).replaceAll('"', "")}`);
  switch (change.kind) {
    case "add":
      content.add(change.events, nowMs);
      return;
    case "revise":
      for (const uuid of some(change.share)) content.revise(uuid, nowMs);
      return;
    case "archive":
      for (const uuid of some(change.share)) content.archive(uuid, nowMs);
      return;
    case "empty":
      for (const uuid of content.listed()) content.archive(uuid, nowMs);
      return;
    case "refuse":
      for (const uuid of some(change.share)) content.refuse(uuid, nowMs, change.status);
      return;
    case "admit":
      for (const uuid of content.listed()) content.refuse(uuid, nowMs, undefined);
      return;
    case "odd":
      service.makeOdd(change.answer);
      return;
    case "gateway": {
      const { kind: _, forMs, ...gateway } = change;
      service.gateway = gateway;
      timeline.at(nowMs + forMs, () => {
        if (service.gateway === gateway) service.gateway = undefined;
      });
      return;
    }
    case "end-sessions":
      service.endSessions();
      service.endAccessTokens();
      return;
    case "password": {
      service.password = `p${Math.floor(nowMs)}`;
      service.endSessions();
      const { password } = service;
      const { storedAfterMs } = change;
      if (storedAfterMs !== undefined)
        timeline.at(nowMs + storedAfterMs, () => {
          // At the end the right one is stored.
          if (world.hasFaults) account.store(password);
        });
      return;
    }
    case "disable":
      service.isDisabled = true;
      service.endSessions();
      timeline.at(nowMs + change.forMs, () => {
        service.isDisabled = false;
      });
      return;
  }
}

/** A share of the listed events, by chance: those whose draw is below it. */
function listedByChance(
  { plan, timeline }: World,
  { name, service }: Account,
  share: number,
): readonly string[] {
  const chance = new Chance(plan.seed, `events of ${name} at ${timeline.nowMs}`);
  return service.content.listed().filter(() => chance.is(share));
}

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
