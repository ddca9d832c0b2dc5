// An event as the simulated service keeps it: the exact text it sends, not a value.

import { createHash } from "node:crypto";
import { type SeededRandom, seededRandom } from "./seeded-random.ts";

export interface SimulatedEvent {
  /** As it is listed; the single-event endpoint knows it in this spelling only. */
  readonly uuid: string;
  /** The exact JSON text of the event in the response of the single-event endpoint. */
  readonly source: string;
  /** The exact JSON text of its entry in the list. */
  readonly listing: string;
  readonly listed: boolean;
  readonly archived: boolean;
}

export interface EventOptions {
  readonly seed?: number;
  /** Least length of the source in characters; without it 500 to 2,000, by the event's number. */
  readonly length?: number;
  /** JSON members put at the end of the source: `"note":"x"`. */
  readonly extra?: string;
}

/** The uuid (version 4 in shape) that belongs to a name, always the same. */
export const uuidOf = (name: string): string => {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = "89ab"[Number.parseInt(hex.slice(16, 17), 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

/** Event number `n`: plausible, and always the same. Its texts are made when they are read. */
export const makeEvent = (n: number, options: EventOptions = {}): SimulatedEvent => {
  const uuid = uuidOf(`event ${options.seed ?? 0} ${n}`);
  return {
    uuid,
    get source() {
      return sourceText(n, uuid, options);
    },
    get listing() {
      const { name, date } = facts(generator(n, options));
      return `{"uuid":"${uuid}","name":"${name}","date":"${date}"}`;
    },
    listed: true,
    archived: false,
  };
};

/** Events number 1 to `count`. */
export const makeEvents = (count: number, options: EventOptions = {}): readonly SimulatedEvent[] =>
  Array.from({ length: count }, (_, index) => makeEvent(index + 1, options));

const BRANDS = ["Alpenkraft", "Café Rouge", "Nordlicht", "Océane", "Piñata", "Quickstep", "Tōkai"];
const KINDS = ["Spring campaign", "Product launch", "Price cut", "Recall", "Sponsorship", "Store opening"];
const SCOPES = ["national", "regional", "global"];
const SECTORS = ["Airlines", "Beverages", "Grocery", "Insurance", "Streaming", "Telecoms"];
const REGIONS = ["de", "fr", "gb", "jp", "us"];
const WORDS =
  "reach recall of the campaign rose while awareness in city stores and online stayed level".split(" ");

const generator = (n: number, { seed = 0 }: EventOptions): SeededRandom => seededRandom(seed * 1_000_003 + n);

const pick = (random: SeededRandom, choices: readonly string[]): string =>
  choices[Math.floor(random() * choices.length)] ?? "";

const two = (value: number): string => String(value).padStart(2, "0");

/** The first draws of an event's generator, which its listing shares with its source. */
const facts = (random: SeededRandom): { readonly name: string; readonly date: string } => {
  const name = `${pick(random, BRANDS)}: ${pick(random, KINDS)}`;
  const date = `2026-${two(1 + Math.floor(random() * 12))}-${two(1 + Math.floor(random() * 28))}`;
  return { name, date };
};

const sourceText = (n: number, uuid: string, options: EventOptions): string => {
  const random = generator(n, options);
  const { name, date } = facts(random);
  const euros = Math.floor(random() * 900_000);
  const cents = two(Math.floor(random() * 10) * 10);
  const head =
    `{"uuid":"${uuid}","name":"${name}","date":"${date}","scope":"${pick(random, SCOPES)}",` +
    `"sector":{"id":${1 + Math.floor(random() * 90)},"name":"${pick(random, SECTORS)}"},` +
    `"regions":["${pick(random, REGIONS)}"],` +
    `"spend":{"currency":"EUR","amount":${euros}.${cents}},` +
    `"impressions":${Math.floor(random() * 5_000_000)},"source_url":null,"confirmed":${random() < 0.8},` +
    `"revision":1,"updated_at":"${date}T08:${two(n % 60)}:00Z","description":"`;
  const tail = options.extra === undefined ? `"}` : `",${options.extra}}`;
  const length = options.length ?? 500 + Math.floor(random() * 1_500);
  return head + prose(random, length - head.length - tail.length) + tail;
};

const prose = (random: SeededRandom, length: number): string => {
  const words: string[] = [];
  for (let size = 0; size < length; size += (words.at(-1)?.length ?? 0) + 1) words.push(pick(random, WORDS));
  return words.join(" ");
};

/** `members` is the text after the uuid; list entry and detail are the same. */
export const customEvent = (name: string, members: string): SimulatedEvent => {
  const uuid = uuidOf(name);
  const text = `{"uuid":"${uuid}",${members}}`;
  return { uuid, source: text, listing: text, listed: true, archived: false };
};
