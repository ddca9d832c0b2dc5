// Which answers without details count. No event is left out because of one: gateways, firewalls, limits and services in a
// restart refuse what is there. An answer that is news counts if it is repeated after a while, and right after it an event
// that was read is still answered.

import { advise, inOrder, setting } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { Waits } from "../../runtime/map-ordered.ts";
import { abortable } from "../../runtime/on-abort.ts";
import type { Detail, Question } from "../../service/event-service.ts";
import { AGAIN_AFTER_MS } from "../../service/requests/api-client.ts";
import { ATTEMPTS, longestWaitMs } from "../../service/requests/sender.ts";
import type { LeftOutReason } from "../../snapshot/files/manifest.ts";
import type { PlannedEvent } from "../../snapshot/staging/plan.ts";
import type { Missing } from "../../storage/publication.ts";
import { areTooManyMissing, type KnownRefusals, mayBeMissing } from "../publish/guard.ts";
import { countText, remainingText } from "../record/texts.ts";
import type { HostPorts, WorldPorts } from "../run-ports.ts";
import type { RunSettings } from "../run-settings.ts";
import { type ControlQuestion, isOfOneRequest } from "./control-question.ts";
import { LATER_MINUTES } from "./found-before.ts";
import { workMs } from "./time-budget.ts";

/** An answer that a cache keeps longer may be the only one that there is. */
const MOST_CACHED_MS = 60_000;

interface RefusalsOptions {
  readonly ports: WorldPorts & HostPorts;
  readonly settings: Pick<RunSettings, "maxMissingPercent" | "windowMs">;
  readonly known: KnownRefusals;
  /** The list, of which no event is left out yet. */
  readonly list: Pick<Missing, "listed" | "rejected">;
  readonly control: ControlQuestion;
  /** Called where no event was read, and none is left that could be. Throws where that is for want of time. */
  readonly onNoneRead?: () => void;
  /** Whether an earlier start has found the same, long enough ago; without it none has. */
  readonly wasFoundBefore?: (uuid: string) => Promise<boolean>;
}

interface Unreadable {
  readonly kind: "left-out";
  readonly reason: "unreadable";
}
const UNREADABLE: Unreadable = { kind: "left-out", reason: "unreadable" };

/** All attempts of a question have failed. */
interface Failed {
  readonly kind: "failed";
  readonly error: SyncError;
}
type Refused = Extract<Detail, { readonly kind: "left-out" }>;
type Answer = Detail | Failed;

/** One event while it is asked for. */
interface Asked extends Pick<PlannedEvent, "uuid" | "requestAs"> {
  readonly ask: (question: Question) => Promise<Answer>;
  readonly waits: Waits;
  readonly signal: AbortSignal;
}

export class Refusals {
  readonly #options: RefusalsOptions;
  #missing: Missing;
  #waiting = 0;
  #saidMs = 0;
  /** By reason, how many refused events were answered later: the service refuses so for moments. */
  readonly #takenBack = new Map<string, number>();
  /** How many failed while none was read. */
  #failedFirst = 0;
  /** The unreadable events that are news. */
  readonly #unreadable = new Set<string>();
  /** Aborts once the snapshot will be held for what is missing: a person decides then, and more questions change nothing. */
  readonly #enough = new AbortController();

  constructor(options: RefusalsOptions) {
    const { listed, rejected } = options.list;
    this.#options = options;
    this.#missing = { listed, gone: 0, forbidden: 0, rejected };
  }

  /** How many requests the events that wait need, with one control question for all; first another event must be read. */
  get requests(): number {
    return this.#waiting === 0 || !this.#options.control.hasRead ? 0 : this.#waiting + 1;
  }

  /** Whether first answers count from now on. */
  get isDecided(): boolean {
    return this.#enough.signal.aborted;
  }

  /**
   * The answer that counts. Throws where an event cannot be read and must not be left out for that.
   * @param question a whole one, with its retries
   */
  async answerTo(
    { uuid, requestAs }: Pick<PlannedEvent, "uuid" | "requestAs">,
    question: (question: Question) => Promise<Detail>,
    waits: Waits,
    signal: AbortSignal,
  ): Promise<Detail | Unreadable> {
    const { control, known } = this.#options;
    const ask = (which: Question): Promise<Answer> =>
      control.ask(requestAs, () => question(which).catch((error: unknown) => asFailed(error, signal)));
    const asked: Asked = { uuid, requestAs, ask, waits, signal };
    const first = await ask("first");
    if (!lacksDetails(first)) return first;
    const isKnown = known.uuids.has(uuid);
    if (first.kind === "failed" && (isKnown || first.error.isRetryable))
      return this.#afterFailure(asked, first, isKnown);
    if (first.kind === "left-out" && (isKnown || this.isDecided)) return first;
    return this.#askAgain(asked, first);
  }

  /** An event is left out: this is what counts. */
  count(uuid: string, reason: LeftOutReason): void {
    const { known, settings } = this.#options;
    if (reason === "unreadable") {
      if (known.uuids.has(uuid)) return;
      this.#unreadable.add(uuid);
    }
    const cause = reason === "gone" || reason === "forbidden" ? reason : "rejected";
    this.#missing = { ...this.#missing, [cause]: this.#missing[cause] + 1 };
    if (areTooManyMissing({ ...this.#missing, accepted: known.accepted }, settings)) this.#decide();
  }

  #decide(): void {
    if (this.isDecided) return;
    this.#enough.abort();
    this.#options.ports.logger.warn(
      "more events have no details than may have none: from here on each refusal counts at once, and the snapshot will be held",
    );
  }

  /**
   * Until the same comes twice, others are answered before the second time and after it, and no refusal for this
   * reason was taken back meanwhile; where one always is, until the last question.
   */
  async #askAgain(asked: Asked, first: Refused | Failed): Promise<Detail | Unreadable> {
    const { control, ports } = this.#options;
    const { uuid, ask, signal } = asked;
    const firstAtMs = ports.clock.monotonicMs();
    let answer = first;
    let leastMs = AGAIN_AFTER_MS;
    if (first.kind === "failed") this.#noteFailure(first);
    for (let questions = 1; questions < ATTEMPTS; questions += 1) {
      const { mark } = control;
      const reason = reasonOf(answer);
      const takenBack = this.#takenBack.get(reason);
      await this.#wait(asked, answer, leastMs);
      if (!control.hasRead) return this.#withoutControl(asked, answer);
      if (answer.kind === "left-out" && this.isDecided) return answer;
      if (!control.hasReadSince(mark)) await control.isAnswered(signal);
      const next = await ask("again");
      if (!lacksDetails(next)) {
        this.#takenBack.set(reason, (this.#takenBack.get(reason) ?? 0) + 1);
        return next;
      }
      if (next.kind === "failed" && next.error.isRetryable) return this.#afterFailure(asked, next, false);
      if (next.kind === "left-out" && this.isDecided) return next;
      const sinceMs = ports.clock.monotonicMs() - firstAtMs;
      if (isOfCache(next, sinceMs)) leastMs = MOST_CACHED_MS - sinceMs;
      else {
        leastMs = AGAIN_AFTER_MS;
        const isAnswered = await control.isAnswered(signal);
        const isSteady = this.#takenBack.get(reason) === takenBack || questions === ATTEMPTS - 1;
        if (isAnswered && isSteady) return this.#leaveOut(uuid, next);
      }
      answer = next;
    }
    throw unsteady();
  }

  /** In which the event does not count among those that are asked for. */
  async #wait({ requestAs, waits, signal }: Asked, answer: Refused | Failed, leastMs: number): Promise<void> {
    const { control, ports } = this.#options;
    const unlessDecided = (wait: Promise<void>): Promise<void> =>
      answer.kind === "failed" ? wait : abortable(wait, this.#enough.signal).catch(() => undefined);
    const waitMs = this.#waitMs(answer, leastMs);
    this.#say(answer, waitMs);
    this.#waiting += 1;
    try {
      await waits.during(unlessDecided(ports.clock.sleep(waitMs, signal)));
      if (!control.hasRead) await waits.forOthers(unlessDecided(abortable(control.firstRead, signal)));
      signal.throwIfAborted();
      if (control.hasRead) return;
      this.#options.onNoneRead?.();
      if (answer.kind === "failed" || this.isDecided) return;
      await control.isAnswered(signal, requestAs);
      // The last moment in which all of them still wait.
      if (!control.hasRead && this.#wouldBeTooMany()) this.#decide();
    } finally {
      this.#waiting -= 1;
    }
  }

  #wouldBeTooMany(): boolean {
    const { known, settings } = this.#options;
    const gone = this.#missing.gone + this.#waiting;
    return areTooManyMissing({ ...this.#missing, gone, accepted: known.accepted }, settings);
  }

  /** No event was ever read, and none is left that could be. */
  async #withoutControl({ ask }: Asked, answer: Refused | Failed): Promise<Detail | Unreadable> {
    if (answer.kind === "failed") throw answer.error;
    if (this.isDecided) return answer;
    const next = await ask("again");
    if (next.kind === "failed") throw next.error;
    return next;
  }

  /** What may pass counts if an earlier start has found it as well; of what readers do not see anyway, it counts now. */
  async #afterFailure(asked: Asked, first: Failed, isKnown: boolean): Promise<Detail | Unreadable> {
    const { control, wasFoundBefore = async () => false } = this.#options;
    const { uuid, ask, waits, signal } = asked;
    this.#noteFailure(first);
    if (!control.hasRead) await waits.forOthers(abortable(control.firstRead, signal));
    if (!control.hasRead) throw first.error;
    let failed = first;
    for (let questions = 1; !(await this.#isAnsweredBeside(failed, signal)); questions += 1) {
      if (questions === ATTEMPTS) throw failed.error;
      const next = await ask("again");
      if (!lacksDetails(next)) return next;
      if (next.kind === "left-out" || !next.error.isRetryable) return this.#askAgain(asked, next);
      failed = next;
    }
    if (isKnown) return UNREADABLE;
    if (await wasFoundBefore(uuid)) return this.#leaveOut(uuid, failed);
    const { error } = failed;
    throw error.with({ message: "Other events are answered.", next: LATER });
  }

  /** Whether others were answered at once. Throws the error of the event where they are not in the end either. */
  #isAnsweredBeside({ error }: Failed, signal: AbortSignal): Promise<boolean> {
    return this.#options.control.isAnswered(signal).catch((problem: unknown) => {
      throw error.isRetryable && isOfOneRequest(problem) ? error : problem;
    });
  }

  /** While none was read, more than may be missing end the run as the first one would. */
  #noteFailure({ error }: Failed): void {
    const { control, list, settings } = this.#options;
    if (control.hasRead) return;
    this.#failedFirst += 1;
    if (this.#failedFirst > mayBeMissing(list.listed, settings)) throw error;
  }

  #leaveOut(uuid: string, answer: Refused | Failed): Detail | Unreadable {
    if (answer.kind === "left-out") return answer;
    const { ports, list, settings } = this.#options;
    const most = mayBeMissing(list.listed, settings);
    this.#unreadable.add(uuid);
    if (this.#unreadable.size > most) throw tooManyUnreadable(answer.error, most);
    ports.logger.warn(`${answer.error.message} Others are answered, so this event is left out.`);
    return UNREADABLE;
  }

  /** As long as the service asks for, but no longer than a run waits for a service, or than this process works. */
  #waitMs(answer: Refused | Failed, leastMs: number): number {
    const { ports, settings } = this.#options;
    const retryAfterMs = answer.kind === "left-out" ? (answer.retryAfterMs ?? 0) : 0;
    const mostMs = Math.min(longestWaitMs(settings.windowMs), workMs(ports));
    return Math.max(AGAIN_AFTER_MS, Math.min(Math.max(leastMs, retryAfterMs), mostMs));
  }

  /** The first time, and where it takes much longer than was said: else a run seems to stand still. */
  #say(answer: Refused | Failed, waitMs: number): void {
    if (waitMs < 2 * this.#saidMs) return;
    this.#saidMs = waitMs;
    const what =
      answer.kind === "failed"
        ? "an event cannot be read"
        : "the service refuses the details of an event (403, 404 or 410)";
    this.#options.ports.logger.info(
      `${what}; before such an event is left out, it is asked for once more, in ${remainingText(waitMs)}`,
    );
  }
}

function reasonOf(answer: Refused | Failed): string {
  return answer.kind === "failed" ? answer.kind : answer.reason;
}

function lacksDetails(answer: Answer): answer is Refused | Failed {
  if (answer.kind === "failed") return true;
  return answer.kind === "left-out" && (answer.reason === "gone" || answer.reason === "forbidden");
}

function asFailed(error: unknown, signal: AbortSignal): Failed {
  signal.throwIfAborted();
  if (!isOfOneRequest(error)) throw error;
  return { kind: "failed", error };
}

/** Whether a cache may have kept this answer since the first one came. `Age` is rounded down. */
function isOfCache(answer: Refused | Failed, sinceMs: number): boolean {
  const ageMs = (answer.kind === "failed" ? undefined : answer.ageMs) ?? Number.NEGATIVE_INFINITY;
  return sinceMs < MOST_CACHED_MS && ageMs + 1_000 >= sinceMs;
}

const LATER = `A start of this run that finds the same, ${LATER_MINUTES} minutes from now or later, leaves this event out.`;

function tooManyUnreadable(error: SyncError, most: number): SyncError {
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `${error.message} More than ${countText(most)} events cannot be read, and no more may be missing. What was read is kept, and the next start of this run continues.`,
    {
      fields: error.fields,
      next: inOrder(error.next, advise`${setting("maxMissingPercent")} sets how many may be missing.`),
      cause: error,
    },
  );
}

function unsteady(): SyncError {
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `The service refuses events and answers them in turn: after ${ATTEMPTS} questions it is not known whether an event is there.`,
    { next: "Run again later." },
  );
}
