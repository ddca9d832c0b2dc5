// What the service answers for an event that can be read, where a test says nothing else of it.

import type { Detail } from "../../../../lambdas/job/service/event-service.ts";

export function aDetail(event: string, eventDate: string | null = null): Detail {
  return { kind: "event", event, value: JSON.parse(event), eventDate, scope: null };
}
