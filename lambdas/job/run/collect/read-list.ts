// LIST: reads the list, and reads it again where an event came on two of its pages: they may have shifted meanwhile, and
// then other events came on none. Readings that have the same events agree; the texts are those of the newest.

import { setImmediate } from "node:timers/promises";
import type { Advice } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type {
  Detail,
  EventList,
  EventService,
  ListDoubt,
  ListedEvent,
  ListedEvents,
  ListTrial,
  Question,
} from "../../service/event-service.ts";
import { CompressedLines } from "../../snapshot/staging/plan.ts";
import { countText } from "../record/texts.ts";
import type { RunSession } from "../run-session.ts";

/** What a run works on. */
interface ReadList extends Pick<EventList, "rejected" | "repeated" | "doubt"> {
  /** Sorted by uuid, each one once. Where no readings agree, those of all of them. */
  readonly events: Iterable<ListedEvent> & { readonly length: number };
  readonly readings: number;
  /**
   * 0 where readings agree, or nothing made another one necessary. Else how many events some reading lacks; of a single
   * one how many entries came on two pages, in the place of as many others.
   */
  readonly unstable: number;
}

/** What readings need of the run. */
interface Reader {
  readonly ports: Pick<RunSession["ports"], "logger" | "signal" | "clock">;
  readonly timeBudget: Pick<RunSession["timeBudget"], "stop">;
}

const MAX_READINGS = 3;

/** Lines that are made without a pause: the lease is renewed meanwhile. */
const UNPAUSED_LINES = 1_000;

/**
 * Throws `LIST_INCOMPLETE` where all readings have the same events, and fewer than the list states. Another reading is made
 * only where the time left covers the slowest one so far, and does not wait long for the budget where an execution could.
 */
export async function readList(
  session: Reader,
  service: Pick<EventService, "list" | "counts">,
): Promise<ReadList> {
  const { logger, signal, clock } = session.ports;
  const { timeBudget } = session;
  let slowestMs = 0;
  const earlier = new EarlierReadings();

  // A list that is not used lives no longer than this: it takes memory.
  const read = async (): Promise<ReadList | undefined> => {
    const { requests } = service.counts;
    const beganAtMs = clock.monotonicMs();
    const list = await service.list(signal);
    slowestMs = Math.max(slowestMs, clock.monotonicMs() - beganAtMs);
    const readings = earlier.length + 1;
    if (readings === 1) for (const warning of list.warnings ?? []) logger.warn(warning);
    if (readings === 1 && list.overlapping === 0) return { ...list, readings, unstable: 0 };
    const { events, lacking, agrees } = await earlier.compare(list);
    if (agrees && list.incomplete === undefined) {
      logger.info("two readings of the list agree", { readings });
      return { ...list, doubt: list.doubt ?? overlapDoubt(list), readings, unstable: 0 };
    }
    const isSame = readings > 1 && lacking === 0;
    const why =
      readings === 1
        ? overlap(list.overlapping)
        : isSame
          ? `${readings} readings of the list have the same events, and fewer than it states`
          : `${countText(lacking)} of ${countText(events.length)} events are not in each of ${readings} readings of the list`;
    const isLast =
      readings === MAX_READINGS ||
      timeBudget.stop(slowestMs, service.counts.requests - requests) !== undefined;
    if (isLast) {
      if (isSame && list.incomplete) throw list.incomplete;
      logger.warn(`${why}; it is not read again`, { readings });
      const repeated = Math.max(earlier.repeated, list.repeated);
      const unstable = readings === 1 ? list.overlapping : lacking;
      return { events, rejected: list.rejected, repeated, doubt: list.doubt, readings, unstable };
    }
    logger.warn(`${why}; the list is read again`, { readings });
    await earlier.add(list);
    return undefined;
  };

  for (;;) {
    const list = await read();
    if (list) return list;
  }
}

/** Takes what was found, and what a person does about it. */
export type Warn = (warning: string, next?: Advice) => unknown;

/** For what publishes nothing: reads the list once, and says what a run would look at again. */
export async function readListOnce(
  service: EventService,
  signal: AbortSignal,
  warn: Warn,
  onTrial?: (trial: ListTrial) => void,
): Promise<EventList> {
  const list = await service.list(signal, onTrial);
  if (list.overlapping > 0)
    warn(`${overlap(list.overlapping)}; a run reads such a list again, and compares.`);
  if (list.incomplete) warn(list.incomplete.message, list.incomplete.next);
  for (const warning of list.warnings ?? []) warn(warning);
  const { rejected, rejectedShape } = list;
  if (rejected > 0)
    warn(
      `${countText(rejected)} of ${countText(listedOf(list))} entries have no valid uuid, with which their details would be requested; the shape of the first is ${rejectedShape}.`,
    );
  if (listedOf(list) === 0)
    warn("The list is empty.", ["Ask the service's operator what is licensed for the account."]);
  return list;
}

function listedOf({ events, rejected, repeated }: EventList): number {
  return events.length + repeated + rejected;
}

/** The pages of the list overlap alike in every reading: on purpose, or others never came. */
function overlapDoubt({ overlapping, isTotalReached }: EventList): ListDoubt | undefined {
  if (overlapping === 0 || isTotalReached === true) return undefined;
  return { why: "overlap", entries: overlapping, places: [] };
}

function overlap(entries: number): string {
  return `${countText(entries)} entries of the list had come on a page before: its pages overlap, or they changed while they were read, and then other events may be missing`;
}

/** An event of any reading, with a bit for each reading that has it: 1 for the first, 2 for the second. */
interface Found extends ListedEvent {
  readonly readings: number;
}

interface Compared {
  /** The events of all readings. */
  readonly events: ReadList["events"];
  /** How many of them some reading lacks. */
  readonly lacking: number;
  /** Whether the newest reading has the same events as one before it. */
  readonly agrees: boolean;
}

/** The readings before the newest, compressed: each event once, with its newest text. */
class EarlierReadings {
  length = 0;
  /** The most of any reading. */
  repeated = 0;
  #events = new CompressedLines();

  async compare(list: EventList): Promise<Compared> {
    const newest = 1 << this.length;
    let length = 0;
    let lacking = 0;
    /** A bit for each reading before that is not as the newest. */
    let differing = 0;
    for (const { readings } of this.#with(list)) {
      if (++length % UNPAUSED_LINES === 0) await setImmediate();
      const without = ~readings & (2 * newest - 1);
      if (without !== 0) lacking += 1;
      differing |= without & newest ? readings : without;
    }
    const events = { length, [Symbol.iterator]: () => this.#with(list) };
    return { events, lacking, agrees: differing !== newest - 1 };
  }

  async add(list: EventList): Promise<void> {
    const events = new CompressedLines();
    for (const { readings, requestAs, listing } of this.#with(list)) {
      if (events.length % UNPAUSED_LINES === 0) await setImmediate();
      events.add(`${readings} ${requestAs} ${listing}`);
    }
    this.#events = events;
    this.repeated = Math.max(this.repeated, list.repeated);
    this.length += 1;
  }

  /** The events of all readings, with this one as the newest, sorted by uuid. */
  *#with(list: EventList): Generator<Found, void> {
    const newest = 1 << this.length;
    const earlier = this.#all();
    let next = earlier.next();
    for (const event of list.events) {
      for (; !next.done && next.value.uuid < event.uuid; next = earlier.next()) yield next.value;
      if (next.done || next.value.uuid !== event.uuid) yield { ...event, readings: newest };
      else {
        yield { ...event, readings: next.value.readings | newest };
        next = earlier.next();
      }
    }
    for (; !next.done; next = earlier.next()) yield next.value;
  }

  *#all(): Generator<Found, void> {
    for (const line of this.#events.from(0)) {
      const [readings = "", requestAs = ""] = line.split(" ", 2);
      const listing = line.slice(readings.length + requestAs.length + 2);
      yield { readings: Number(readings), uuid: requestAs.toLowerCase(), requestAs, listing };
    }
  }
}

/** The error where not one event of a sample of the list could be read. */
export function noneReadable(tried: number, gone = 0): SyncError {
  return new SyncError(
    "NOT_ENTITLED",
    gone === tried
      ? `The details of all ${tried} listed events that were tried were answered with 404 or 410, as a gateway may do.`
      : `This account may not read the details of any of ${tried} listed events.`,
    {
      next:
        gone === tried
          ? "Ask the service's operator."
          : "Ask the service's operator what the account is licensed for.",
    },
  );
}

/** An event of a sample that cannot be read. */
export interface Unread {
  readonly kind: "unread";
  readonly uuid: string;
  readonly error: SyncError;
}

/** One event of a sample. */
export async function readOne(
  service: EventService,
  { uuid, requestAs }: ListedEvent,
  signal: AbortSignal,
  question?: Question,
): Promise<Detail | Unread> {
  try {
    return await service.detail(requestAs, signal, question);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof SyncError)) throw error;
    return { kind: "unread", uuid, error };
  }
}

/**
 * Says which events of a sample cannot be read, while others can. Throws the error of the first where none can: where none
 * was read, or the one that was is not answered now.
 * @param read an event of the sample that was read
 */
export async function sayUnread(
  service: EventService,
  details: readonly (Detail | Unread)[],
  read: ListedEvent | undefined,
  signal: AbortSignal,
  warn: Warn,
): Promise<void> {
  const unread = details.filter((one) => one.kind === "unread");
  const [first] = unread;
  if (first === undefined) return;
  const control = read && (await readOne(service, read, signal, "control"));
  if (control?.kind !== "event") throw first.error;
  const others =
    unread.length === 1
      ? ""
      : ` So do ${unread
          .slice(1)
          .map(({ uuid }) => uuid)
          .join(", ")}.`;
  warn(`An event cannot be read, while others can: ${first.error.message}${others}`, first.error.next);
}

/** The first events by uuid may be the oldest ones, so the sample is spread over the whole list. */
export function spread(events: ListedEvents, limit: number): readonly ListedEvent[] {
  const size = Math.min(events.length, limit);
  return Array.from({ length: size }, (_, index) =>
    events.at(Math.floor((index * events.length) / size)),
  ).filter((event) => event !== undefined);
}
