// A service of a test's own, without sockets: each request for the list is answered by a function.

import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import type { EventList, ListTrial } from "../../../../../lambdas/job/service/event-service.ts";
import { LIST_CAPS, type ListOptions } from "../../../../../lambdas/job/service/events/list/fetch-list.ts";
import { createEventService } from "../../../../../lambdas/job/service/http-event-service.ts";
import { RateLimiter } from "../../../../../lambdas/job/service/rate-limit/rate-limiter.ts";
import { acceleratedClock } from "../../../../simulator/clocks.ts";
import { LogLines } from "../../../runtime/log-lines.ts";

export interface ServedPage {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or text as it is; absent: no body. */
  readonly body?: unknown;
}

interface Served {
  /** Undefined where it was refused. */
  readonly list: EventList | undefined;
  readonly error: SyncError | undefined;
  /** Path and query of each request. */
  readonly seen: readonly string[];
  readonly trials: readonly ListTrial[];
}

/** Minutes of back-off cost a test a few milliseconds. */
const SPEED = 100_000;

/** For a client of a test's own. */
export const LIST_OPTIONS: ListOptions = {
  baseUrl: new URL("https://service.test"),
  isListed: "any",
  pointer: undefined,
  nextPage: undefined,
  capBytes: LIST_CAPS,
  timeoutMs: () => 1_000,
  shownName: (name) => name,
};

interface ReadSettings {
  readonly nextPage?: string | undefined;
  readonly listPointer?: string | undefined;
  /** Whether values of `nextPage` are tried. */
  readonly isTried?: boolean;
}

/** Reads the list once. @param pageOf `nth` counts requests from 1 */
export async function readServed(
  pageOf: (url: URL, nth: number) => ServedPage,
  { isTried = false, ...settings }: ReadSettings = {},
): Promise<Served> {
  const seen: string[] = [];
  const trials: ListTrial[] = [];
  const onTrial = isTried ? (trial: ListTrial): void => void trials.push(trial) : undefined;
  const clock = acceleratedClock(SPEED);
  const limits = { requestsPerMinute: "unlimited", bytesPerMinute: "unlimited", windowMs: 60_000 } as const;
  const service = createEventService({
    ...settings,
    baseUrl: "https://service.test/",
    credentials: { method: "basic", email: "someone@example.test", password: "secret" },
    isListed: "true",
    concurrency: 1,
    rateLimiter: new RateLimiter({ ...limits, clock }),
    clock,
    random: { next: () => 0, token: () => "token" },
    logger: new LogLines(),
    transport: {
      send: async ({ url }) => {
        const { pathname, search } = url;
        const { status = 200, headers = {}, body } = pageOf(new URL(url.href), seen.push(pathname + search));
        const text = body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body);
        const bytes = Buffer.from(text);
        const entries = Object.entries(headers).map(
          ([name, value]) => [name.toLowerCase(), [value]] as const,
        );
        return {
          status,
          headers: new Map(entries),
          decodedBytes: bytes.length,
          body: status < 300 ? { kind: "whole", bytes } : { kind: "unread" },
        };
      },
      close: async () => undefined,
    },
  });
  try {
    return { list: await service.list(undefined, onTrial), error: undefined, seen, trials };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { list: undefined, error, seen, trials };
  } finally {
    await service.close();
  }
}

/** Events of these numbers, as entries of a list. */
export const entries = (from: number, to: number): readonly { readonly uuid: string }[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({
    uuid: `00000000-0000-4000-8000-${String(from + index).padStart(12, "0")}`,
  }));
