// Delivers one notification: three attempts, no redirect, and no word about the URL but its host.

import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Random } from "../../../lambdas/job/runtime/random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import {
  type HttpResponse,
  NoResponse,
  type Transport,
} from "../../../lambdas/job/service/http/transport.ts";
import { retryAfterMs, retryDelayMs, statusClass } from "../../../lambdas/job/service/requests/retry.ts";

const ATTEMPTS = 3;
/** A longer `Retry-After` is not waited for: the run has ended, and its terminal or cron waits. */
const MAX_WAIT_MS = 30_000;

export interface PostNotificationOptions {
  readonly url: URL;
  /** Its time-out is the time that one attempt may take. */
  readonly transport: Pick<Transport, "send">;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface Failure {
  readonly problem: string;
  /** Before the next attempt; undefined: chosen here. */
  readonly waitMs?: number | undefined;
  readonly isFinal?: true;
}

/** Why the body was not delivered; undefined if it was. */
export async function postNotification(
  body: string,
  options: PostNotificationOptions,
): Promise<string | undefined> {
  const { clock, random, signal } = options;
  try {
    for (let failures = 1; ; failures += 1) {
      const failure = await attempt(body, options);
      if (failure === undefined) return undefined;
      const { problem, isFinal, waitMs = retryDelayMs(failures, random) } = failure;
      const tried = failures === 1 ? "" : `, after ${failures} attempts`;
      if (isFinal || failures === ATTEMPTS || waitMs > MAX_WAIT_MS) return `${problem}${tried}`;
      await clock.sleep(waitMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return "the program was stopped";
  }
}

async function attempt(
  body: string,
  { url, transport, clock, signal }: PostNotificationOptions,
): Promise<Failure | undefined> {
  try {
    const response = await transport.send(request(url, body), signal);
    return failureOf(response, url, clock.now());
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    const through = error.proxy === undefined ? "" : ` through the proxy ${error.proxy}`;
    return { problem: `there was no answer${through} (${error.reason})` };
  }
}

function request(url: URL, body: string) {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", "user-agent": `brand-events-sync/${VERSION}` },
    body,
    bodyCapBytes: 65_536,
    // The status says all; what the server adds is not read.
    sink: { add: () => false },
  } as const;
}

function failureOf(response: HttpResponse, url: URL, nowMs: number): Failure | undefined {
  const { status, headers } = response;
  switch (statusClass(status)) {
    case "read":
      return undefined;
    case "retry":
      return { problem: `the answer was status ${status}`, waitMs: retryAfterMs(headers, nowMs) };
    case "redirect": {
      const host = URL.parse(headers.get("location")?.[0] ?? "", url.href)?.host || "nowhere";
      return {
        problem: `the answer was status ${status}, a redirect to ${host}, which is not followed`,
        isFinal: true,
      };
    }
    case "renew":
    case "refused":
      return { problem: `the answer was status ${status}`, isFinal: true };
  }
}
