// Something changes at the service.

import { Chance } from "../chance.ts";
import type { ServiceChange } from "../plan/plan.ts";
import type { World } from "../world.ts";

export function applyChange(world: World, change: ServiceChange): void {
  const { service, timeline, story } = world;
  const { content } = service;
  const { nowMs } = timeline;
  story.tell("service", `changes: ${JSON.stringify(change).replaceAll('"', "")}`);
  switch (change.kind) {
    case "add":
      content.add(change.events, nowMs);
      return;
    case "revise":
      for (const uuid of some(world, change.share)) content.revise(uuid, nowMs);
      return;
    case "archive":
      for (const uuid of some(world, change.share)) content.archive(uuid, nowMs);
      return;
    case "empty":
      for (const uuid of content.listed()) content.archive(uuid, nowMs);
      return;
    case "refuse":
      for (const uuid of some(world, change.share)) content.refuse(uuid, nowMs, change.status);
      return;
    case "admit":
      for (const uuid of content.listed()) content.refuse(uuid, nowMs, undefined);
      return;
    case "end-sessions":
      service.sessions.endAll();
      service.provider.endAccess();
      return;
    case "password": {
      service.password = `p${Math.floor(nowMs)}`;
      service.sessions.endAll();
      const { password } = service;
      const { storedAfterMs } = change;
      if (storedAfterMs !== undefined)
        timeline.at(nowMs + storedAfterMs, () => {
          // At the end the right one is stored.
          if (world.hasFaults) world.store(password);
        });
      return;
    }
    case "disable":
      service.isDisabled = true;
      service.sessions.endAll();
      timeline.at(nowMs + change.forMs, () => {
        service.isDisabled = false;
      });
      return;
  }
}

/** A share of the listed events, by chance: those whose draw is below it. */
function some({ plan, service, timeline }: World, share: number): readonly string[] {
  const chance = new Chance(plan.seed, `events at ${timeline.nowMs}`);
  return service.content.listed().filter(() => chance.is(share));
}
