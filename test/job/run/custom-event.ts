// An event of the simulated service with members of a test's own.

import { type SimulatedEvent, uuidOf } from "../../simulator/simulated-event.ts";

/** `members` is the text after the uuid; list entry and detail are the same. */
export const customEvent = (name: string, members: string): SimulatedEvent => {
  const uuid = uuidOf(name);
  const text = `{"uuid":"${uuid}",${members}}`;
  return { uuid, source: text, listing: text, listed: true, archived: false };
};
