// Decisions drawn from a seed: one stream of numbers for each purpose, so that leaving one decision out changes no other.

import { randomInt } from "node:crypto";
import { type SeededRandom, seededRandom } from "../simulator/seeded-random.ts";

export class Chance {
  readonly #next: SeededRandom;

  constructor(seed: number, purpose: string) {
    this.#next = seededRandom(hashOf(purpose) ^ Math.imul(seed, 0x9e3779b1));
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#next();
  }

  /** True so often, of 1. */
  is(probability: number): boolean {
    return this.#next() < probability;
  }

  /** From `least` to `most`, both included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  pick<const T>(choices: readonly [T, ...T[]]): T {
    return choices[Math.floor(this.#next() * choices.length)] ?? choices[0];
  }

  /** 128 bits in hexadecimal. */
  token(): string {
    return Array.from({ length: 4 }, () => hex(this.#next())).join("");
  }
}

const hex = (draw: number): string =>
  Math.floor(draw * 2 ** 32)
    .toString(16)
    .padStart(8, "0");

/** FNV-1a. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** A number in [0, 1) that belongs to the nth use of a stream, whatever was drawn before. */
export function drawnFor(stream: number, nth: number): number {
  let mixed = (stream + Math.imul(nth, 0x9e3779b1)) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/** Of `npm run simulate`. */
export const LAST_SEED = 999_999_999;

/** So many, from one drawn at random on. */
export function freshSeeds(count: number): string {
  const from = randomInt(1_000, Math.floor(LAST_SEED / 2));
  return `${from}..${Math.min(LAST_SEED, from + count - 1)}`;
}
