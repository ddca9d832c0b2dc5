// One thing that the acceptance looks at, as data, and what all of them have in hand.

import type { Deployed } from "./deployment.ts";
import type { Journal } from "./journal.ts";

export interface Row {
  readonly name: string;
  readonly does: string;
  readonly expects: string;
  /** Where it is not so. */
  readonly remedy: string;
  /** Why an emulator cannot show it. */
  readonly notOnEmulator?: string;
  /** The row spends the account's budget, or changes something of it. */
  readonly touchesAccount?: true;
  /** Returns what it saw; throws what is not as expected, or `Skipped`. */
  readonly see: (at: At) => Promise<string>;
}

export interface At {
  readonly deployed: Deployed;
  readonly account: string;
  readonly journal: Journal;
  /** The reasons of a person, by the name of what is not compared. */
  readonly exceptions?: ReadonlyMap<string, string>;
  /** A person's yes or no; undefined where no person is there. */
  readonly ask: (question: string) => Promise<boolean | undefined>;
}

/** The remedy for what was changed or deleted by hand: CloudFormation itself compares templates only. */
export const UNDO =
  "undo the change in the console, or run `npx cdk deploy --revert-drift`; without that option a deployment leaves what was changed by hand";

/** What a row finds only if something else is there. */
export class Skipped extends Error {}

export function must(isSo: boolean, saw: string): asserts isSo {
  if (!isSo) throw new Error(saw);
}

const MOST_LISTED = 10;

/** In one line; of many the first. */
export function listed(all: readonly string[]): string {
  const more = all.length > MOST_LISTED ? [`and ${all.length - MOST_LISTED} more`] : [];
  return [...all.slice(0, MOST_LISTED), ...more].join("; ");
}

/** Asks again until there is a result, for so long. */
export async function until<Result>(
  what: string,
  minutes: number,
  look: () => Promise<Result | undefined>,
): Promise<Result> {
  for (const endMs = Date.now() + minutes * 60_000; Date.now() < endMs; ) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${what}: not within ${minutes} minutes`);
}

const POLL_MS = 2_000;
