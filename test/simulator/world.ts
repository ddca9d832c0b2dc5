// What the simulated service knows: its events, and which of them it refuses to show.

import type { SimulatedEvent } from "./simulated-event.ts";

export type EventChange = Partial<Omit<SimulatedEvent, "uuid">>;

/** Uuids are found in the spelling in which they are listed. Methods that name an unknown one throw. */
export class World {
  readonly #events = new Map<string, SimulatedEvent>();
  readonly #refusals = new Map<string, number>();

  constructor(events: readonly SimulatedEvent[]) {
    this.replaceAll(events);
  }

  /** All events, archived and unlisted ones too. */
  get size(): number {
    return this.#events.size;
  }

  replaceAll(events: readonly SimulatedEvent[]): void {
    this.#events.clear();
    this.#refusals.clear();
    this.#addAll(events);
  }

  add(...events: readonly SimulatedEvent[]): void {
    this.#addAll(events);
  }

  change(uuid: string, change: EventChange): void {
    this.#events.set(uuid, { ...this.get(uuid), ...change });
  }

  /** The single-event endpoint answers it with `status`, undefined: as the event is; it stays in the list. */
  refuse(uuid: string, status: number | undefined): void {
    if (status === undefined) this.#refusals.delete(uuid);
    else this.#refusals.set(this.get(uuid).uuid, status);
  }

  refusalOf(uuid: string): number | undefined {
    return this.#refusals.get(uuid);
  }

  find(uuid: string): SimulatedEvent | undefined {
    return this.#events.get(uuid);
  }

  get(uuid: string): SimulatedEvent {
    const event = this.find(uuid);
    if (event === undefined) throw new Error(`the simulator has no event ${uuid}`);
    return event;
  }

  /** An event that the service shows and that is not this one. */
  otherThan(uuid: string): SimulatedEvent {
    for (const event of this.#events.values()) {
      if (event.uuid !== uuid && !event.archived && !this.#refusals.has(event.uuid)) return event;
    }
    throw new Error("the simulator has no other event to send");
  }

  /** What the list endpoint shows: never archived events; with `isListed`, only those that are (not) listed. */
  shown(isListed?: boolean): readonly SimulatedEvent[] {
    return [...this.#events.values()].filter(
      ({ archived, listed }) => !archived && (isListed === undefined || listed === isListed),
    );
  }

  /** A million arguments would be too many. */
  #addAll(events: readonly SimulatedEvent[]): void {
    for (const event of events) {
      if (this.#events.has(event.uuid)) throw new Error(`the simulator has event ${event.uuid} already`);
      this.#events.set(event.uuid, event);
    }
  }
}
