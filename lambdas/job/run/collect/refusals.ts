// Which refusals count. No event is left out because of one answer: gateways, firewalls and services in a restart answer
// with 403, 404 or 410 for what is there. So a refusal that is news is followed by a second question.

import { undefinedIfDamaged } from "../../errors/sync-error.ts";
import type { StepAside } from "../../runtime/map-ordered.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Detail } from "../../service/event-service.ts";
import { longestWaitMs } from "../../service/requests/sender.ts";
import { readLeftOut } from "../../snapshot/files/manifest.ts";
import type { LeftOutReason } from "../../snapshot/staging/chain.ts";
import type { Missing, Publication } from "../../storage/publication-log.ts";
import type { AccountStore } from "../../storage/store.ts";
import { areTooManyMissing } from "../publish/guard.ts";
import { remainingText } from "../record/texts.ts";
import type { RunPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { workMs } from "./time-budget.ts";

/** Between the two questions, at least. */
const AGAIN_AFTER_MS = 5_000;

/** What the head says of refusals when a process starts. */
export interface KnownRefusals {
  /**
   * Of the events that it leaves out, for whatever reason: readers do not see them, so one more answer takes nothing from
   * them. The refusal of any other event is news.
   */
  readonly uuids: ReadonlySet<string>;
  /** What a person has accepted as missing. */
  readonly accepted: Missing | undefined;
}

/** Reads them from the head. Without a head, or where its list is damaged, none is known. */
export async function knownRefusals(
  store: AccountStore,
  head: Publication | undefined,
): Promise<KnownRefusals> {
  const leftOut =
    head && (await readLeftOut(store, store.keys.leftOut(head.snapshot_id)).catch(undefinedIfDamaged));
  return { uuids: new Set(leftOut?.map(({ uuid }) => uuid)), accepted: head?.accepted };
}

interface RefusalsOptions {
  readonly ports: Pick<RunPorts, "clock" | "logger" | "timeLeftMs" | "reserveMs">;
  readonly settings: Pick<RunSettings, "maxMissingPercent" | "windowMs">;
  readonly known: KnownRefusals;
  /** The list, of which no event is left out yet. */
  readonly list: Pick<Missing, "listed" | "rejected">;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  #missing: Missing;
  #waiting = 0;
  #saidMs = 0;
  /** Aborts once the snapshot will be held for what is missing: a person decides then, and more questions change nothing. */
  readonly #enough = new AbortController();

  constructor(options: RefusalsOptions) {
    const { listed, rejected } = options.list;
    this.#options = options;
    this.#missing = { listed, gone: 0, forbidden: 0, rejected };
  }

  /** How many events wait for their second question. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether first answers count from now on. */
  get isDecided(): boolean {
    return this.#enough.signal.aborted;
  }

  /**
   * The answer that counts. An event waits for its second question without a place among the requests.
   * @param request a whole question, with its retries
   */
  async answerTo(
    uuid: string,
    request: () => Promise<Detail>,
    stepAside: StepAside,
    signal: AbortSignal,
  ): Promise<Detail> {
    const first = await request();
    const isRefused = first.kind === "left-out" && (first.reason === "gone" || first.reason === "forbidden");
    if (!isRefused || this.#options.known.uuids.has(uuid) || this.isDecided) return first;
    const waitMs = this.#waitMs(first.retryAfterMs);
    this.#say(waitMs);
    const { clock } = this.#options.ports;
    const wait = abortable(clock.sleep(waitMs, signal), this.#enough.signal).catch(() => undefined);
    this.#waiting += 1;
    await stepAside(() => wait);
    this.#waiting -= 1;
    signal.throwIfAborted();
    return this.isDecided ? first : request();
  }

  /** An event is left out: this is what counts. */
  count(reason: LeftOutReason): void {
    const cause = reason === "gone" || reason === "forbidden" ? reason : "rejected";
    this.#missing = { ...this.#missing, [cause]: this.#missing[cause] + 1 };
    const { known, settings } = this.#options;
    if (this.isDecided) return;
    if (!areTooManyMissing({ ...this.#missing, accepted: known.accepted }, settings)) return;
    this.#enough.abort();
    this.#options.ports.logger.warn(
      "more events have no details than may have none: from here on each refusal counts at once, and the snapshot will be held",
    );
  }

  /** As long as the service asks for, but no longer than a run waits for a service, or than this process works. */
  #waitMs(retryAfterMs = 0): number {
    const { ports, settings } = this.#options;
    const mostMs = Math.min(longestWaitMs(settings.windowMs), workMs(ports));
    return Math.max(AGAIN_AFTER_MS, Math.min(retryAfterMs, mostMs));
  }

  /** The first time, and where it takes much longer than was said: else a run seems to stand still. */
  #say(waitMs: number): void {
    if (waitMs < 2 * this.#saidMs) return;
    this.#saidMs = waitMs;
    this.#options.ports.logger.info(
      `the service refuses the details of an event (403, 404 or 410); before such an event is left out, it is asked for once more, in ${remainingText(waitMs)}`,
    );
  }
}
