// Something changes at the service.

import type { Account } from "../account.ts";
import { Chance } from "../chance.ts";
import type { Change } from "../plan/plan.ts";
import type { World } from "../world.ts";

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
