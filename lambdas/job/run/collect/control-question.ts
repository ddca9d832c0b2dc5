// Whether the service answers at all: an event that this run has read is asked for once more. One question answers for all
// that wait when it is sent.

import { advise, command } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { EventService } from "../../service/event-service.ts";
import type { RateLimiter } from "../../service/rate-limit/rate-limiter.ts";
import { AGAIN_AFTER_MS } from "../../service/requests/api-client.ts";
import { ATTEMPTS } from "../../service/requests/sender.ts";
import type { WorldPorts } from "../run-ports.ts";

/** So many of the events that were read last: one of them may be gone meanwhile. */
export const REMEMBERED = ATTEMPTS;

interface ControlledService {
  readonly service: Pick<EventService, "detail">;
  readonly budget: Pick<RateLimiter, "pause">;
}

/** Questions are numbered, so that it is known which were asked after an answer had come, whatever clocks show. */
export class ControlQuestion {
  readonly #world: WorldPorts;
  readonly #asked: ControlledService;
  readonly #read: string[];
  readonly #firstRead = Promise.withResolvers<void>();
  #begun = 0;
  #lastAnswered = -1;
  #underWay: Promise<boolean> | undefined;
  /** Asked once the one under way has ended, which says nothing of the time after it was sent. */
  #next: Promise<boolean> | undefined;

  /** @param earlier events that earlier starts of the run have read, at most `REMEMBERED` */
  constructor(world: WorldPorts, asked: ControlledService, earlier: readonly string[] = []) {
    this.#world = world;
    this.#asked = asked;
    this.#read = [...earlier];
  }

  /** Whether there is an event to ask for. */
  get hasRead(): boolean {
    return this.#read.length > 0;
  }

  /** Resolves with the first event that is read. */
  get firstRead(): Promise<void> {
    return this.#firstRead.promise;
  }

  /** The number of the next question. */
  get mark(): number {
    return this.#begun;
  }

  /** Whether an event was read that was asked for since. */
  hasReadSince(mark: number): boolean {
    return this.#lastAnswered >= mark;
  }

  /** Asks any question for details, and remembers an event that it brings. */
  async ask<Answer extends { readonly kind: string }>(
    requestAs: string,
    question: () => Promise<Answer>,
  ): Promise<Answer> {
    const number = this.#begun++;
    const answer = await question();
    if (answer.kind === "event") {
      this.#lastAnswered = Math.max(this.#lastAnswered, number);
      this.#read.push(requestAs);
      if (this.#read.length > REMEMBERED) this.#read.shift();
      this.#firstRead.resolve();
    }
    return answer;
  }

  /**
   * Resolves once a question that is sent after this call is answered; with false where that took several attempts, so that
   * no event was answered for a while. Throws `SERVICE_UNAVAILABLE` after the last attempt.
   * @param unread what is asked for where no event was read yet: after the last attempt `hasRead` says how that ended
   */
  isAnswered(signal: AbortSignal, unread = ""): Promise<boolean> {
    if (this.#next !== undefined) return this.#next;
    const after = this.#underWay ?? Promise.resolve();
    const begin = (): Promise<boolean> => {
      this.#underWay = this.#next;
      this.#next = undefined;
      return this.#question(signal, unread);
    };
    this.#next = after.then(begin, begin);
    return this.#next;
  }

  async #question(signal: AbortSignal, unread: string): Promise<boolean> {
    const { clock, logger } = this.#world;
    for (let attempt = 1; ; attempt += 1) {
      const requestAs = this.#read.at(-1 - ((attempt - 1) % this.#read.length)) ?? unread;
      const refusal = await this.#refusalOf(requestAs, signal);
      if (refusal === undefined) return attempt === 1;
      if (attempt === ATTEMPTS && !this.hasRead) return false;
      if (attempt === ATTEMPTS) throw noneIsAnswered(attempt, refusal);
      if (attempt === 1)
        logger.warn(
          `the service refuses ${this.hasRead ? "events that it has answered before" : "all events"}: all requests wait until it answers again`,
        );
      this.#asked.budget.pause(AGAIN_AFTER_MS, false);
      await clock.sleep(AGAIN_AFTER_MS, signal);
    }
  }

  /** Undefined where it is answered. */
  async #refusalOf(requestAs: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      const question = () => this.#asked.service.detail(requestAs, signal, "control");
      const answer = await this.ask(requestAs, question);
      return answer.kind === "event" ? undefined : "refused (403, 404 or 410)";
    } catch (error) {
      signal.throwIfAborted();
      if (!isOfOneRequest(error)) throw error;
      const { status } = error.fields;
      return typeof status === "number" ? `answered with status ${status}` : "not answered with an event";
    }
  }
}

/** Whether a request for details has failed. What is wrong with credentials, or with a login, is wrong for all requests. */
export function isOfOneRequest(error: unknown): error is SyncError {
  if (!(error instanceof SyncError)) return false;
  const { code, fields } = error;
  if (String(fields["request"]).startsWith("POST ")) return false;
  return code === "UNEXPECTED_RESPONSE" || code === "SERVICE_UNAVAILABLE" || code === "THROTTLED";
}

function noneIsAnswered(attempts: number, refusal: string): SyncError {
  return new SyncError(
    "SERVICE_UNAVAILABLE",
    `The service refuses events that it has answered before: they were ${refusal}, ${attempts} times. So no event is left out. The problem is on the service's side, or between here and there.`,
    {
      fields: { attempts },
      next: advise`Run again later. If they are deleted there, a new run lists what is there now: ${command("run", { decision: "fresh" })}.`,
    },
  );
}
