// GET /v1/events/{uuid}: one event, in one of the envelopes it may come in (docs/service-interface.md §3.3).

import type { SimulatedEvent } from "./simulated-event.ts";
import { json, objectText, refusal, type SimulatedResponse } from "./simulated-response.ts";
import type { World } from "./world.ts";

/** The last one is a shape that a client must be configured for: `{"result": {"item": {...}}}`. */
export type DetailShape = "bare" | "data" | "data-event" | "result-item";

export interface DetailOptions {
  /** Default `data`. */
  readonly shape?: DetailShape;
  /** JSON members as text, put into the outermost object of the envelope (none in `bare`). */
  readonly members?: string;
  /** Makes the body that is sent. */
  readonly raw?: (body: string, event: SimulatedEvent) => string | Buffer;
}

export const oneEvent = (uuid: string, world: World, options: DetailOptions): SimulatedResponse => {
  const event = world.find(uuid);
  const status = world.refusalOf(uuid);
  if (status === 403) return refusal(403, "Not licensed for this event.");
  if (status !== undefined) return refusal(status, "Event not found.");
  if (event === undefined || event.archived) return refusal(404, "Event not found.");
  const body = bodyText(event.source, options);
  return json(200, options.raw?.(body, event) ?? body);
};

const bodyText = (source: string, { members, ...options }: DetailOptions): string => {
  const shape: DetailShape = options.shape ?? "data";
  switch (shape) {
    case "bare":
      return source;
    case "data":
      return objectText(`"data":${source}`, members);
    case "data-event":
      return objectText(`"data":{"event":${source}}`, members);
    case "result-item":
      return objectText(`"result":{"item":${source}}`, members);
  }
};
