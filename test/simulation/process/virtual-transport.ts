// The network between one process and the service: latency, resets, lost answers, broken and slow bodies, time-outs.

import type {
  HttpResponse,
  NoResponse,
  ResponseBody,
  Transport,
  TransportRequest,
} from "../../../lambdas/job/service/http/transport.ts";
import { json, type SimulatedResponse } from "../../simulator/simulated-response.ts";
import type { CallFault, WrongAnswer } from "../plan/plan.ts";
import type { VirtualService } from "../service/virtual-service.ts";
import type { Story, Timeline } from "../timeline.ts";
import { never, type SimProcess } from "./sim-process.ts";

/** Of one attempt, as in life. */
const TIMEOUT_MS = 30_000;

export interface VirtualTransportOptions {
  readonly process: SimProcess;
  readonly service: VirtualService;
  readonly timeline: Timeline;
  readonly story: Story;
  readonly observer: RequestObserver;
}

/** Learns of each request, and of the response that came back. */
export interface RequestObserver {
  onSend(process: string, request: TransportRequest): OnAnswer;
}

export type OnAnswer = (response: Pick<HttpResponse, "status" | "headers">) => void;

export class VirtualTransport implements Transport {
  readonly #options: VirtualTransportOptions;

  constructor(options: VirtualTransportOptions) {
    this.#options = options;
  }

  send(request: TransportRequest, signal?: AbortSignal): Promise<HttpResponse> {
    const { process, timeline, observer } = this.#options;
    if (process.isDead) return never();
    const fault = process.nextFault("service", request.url.pathname);
    process.take(fault);
    if (process.isDead) return never();
    const { promise, resolve, reject } = Promise.withResolvers<HttpResponse>();
    if (signal?.aborted) {
      reject(signal.reason);
      return promise;
    }
    let isOver = false;
    const abort = (): void => end(() => reject(signal?.reason));
    const end = (settle: () => void): void => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener("abort", abort);
      settle();
    };
    signal?.addEventListener("abort", abort, { once: true });
    const onAnswer = observer.onSend(process.name, request);
    const sentAtMs = timeline.nowMs;
    timeline.at(sentAtMs + TIMEOUT_MS, () =>
      process.whenRunning(() => end(() => reject(new process.job.NoResponse("TIMED_OUT")))),
    );
    this.#travel(request, fault, (settled) =>
      process.whenRunning(() =>
        end(() => {
          if (settled instanceof process.job.NoResponse) {
            reject(settled);
            return;
          }
          onAnswer(settled);
          resolve(settled);
        }),
      ),
    );
    return promise;
  }

  async close(): Promise<void> {}

  /** To the service and back, as far as the fault lets it. */
  #travel(
    request: TransportRequest,
    fault: CallFault | undefined,
    arrive: (settled: HttpResponse | NoResponse) => void,
  ): void {
    const { process, service, story, timeline } = this.#options;
    const { method, url, headers, body = "" } = request;
    const what = `${method} ${url.pathname}${url.search}`;
    const wrong = wrongAnswer(fault);
    if (wrong?.kind === "reset") {
      story.tell(process.name, `${what} is reset`);
      timeline.at(timeline.nowMs + 1, () => arrive(new process.job.NoResponse("CONNECTION_LOST")));
      return;
    }
    const halfMs = process.latencyMs(fault) / 2;
    timeline.at(timeline.nowMs + halfMs, () => {
      const answer =
        wrongStatus(wrong, timeline.nowMs) ??
        oddAnswer(wrong, url.pathname) ??
        service.serve({ by: process.name, method, url: new URL(url.href), headers, body });
      story.tell(process.name, `${what} ${wrong === undefined ? "" : `(${wrong.kind}) `}`, {
        value: answer.status,
      });
      if (fault?.kind === "kill" && fault.when === "after") {
        process.kill();
        return;
      }
      if (wrong?.kind === "hang") return;
      const backMs = wrong?.kind === "slow-body" ? TIMEOUT_MS - halfMs - 1 : halfMs;
      timeline.at(timeline.nowMs + backMs, () =>
        arrive(
          wrong?.kind === "lost"
            ? new process.job.NoResponse("CONNECTION_LOST")
            : responseOf(answer, wrong, request),
        ),
      );
    });
  }
}

function wrongAnswer(fault: CallFault | undefined): WrongAnswer | undefined {
  switch (fault?.kind) {
    case "answer":
      return fault.answer;
    case "fail":
      return { kind: "reset" };
    case "lose":
      return { kind: "lost" };
    default:
      return undefined;
  }
}

/** The answer of something before the service, which does not see the request. */
function wrongStatus(wrong: WrongAnswer | undefined, nowMs: number): SimulatedResponse | undefined {
  if (wrong?.kind === "redirect") return json(302, "", { location: "https://elsewhere.example/" });
  if (wrong?.kind === "html") return json(200, "<!doctype html>");
  if (wrong?.kind !== "status") return undefined;
  const { status, retryAfter } = wrong;
  if (retryAfter === undefined) return json(status, "");
  const { seconds, isDate } = retryAfter;
  const until = new Date(nowMs + seconds * 1_000).toUTCString();
  return json(status, "", {
    date: new Date(nowMs).toUTCString(),
    "retry-after": isDate ? until : String(seconds),
  });
}

const isDetail = (pathname: string): boolean => pathname.startsWith("/v1/events/");

/** Details without an event; of the list a page with an error in place of entries. Without a list in it, it ends a run at once. */
function oddAnswer(wrong: WrongAnswer | undefined, pathname: string): SimulatedResponse | undefined {
  if (wrong?.kind !== "odd") return undefined;
  const { status, text } = wrong;
  if (isDetail(pathname)) return json(status, text);
  return pathname === "/v1/events" && text.includes("error")
    ? json(status, `{"data":[],${text.slice(1)}`)
    : undefined;
}

function responseOf(
  answer: SimulatedResponse,
  wrong: WrongAnswer | undefined,
  { bodyCapBytes, url, readsRefusal }: TransportRequest,
): HttpResponse {
  const { status } = answer;
  const bytes = Buffer.from(answer.body);
  const headers = new Map(Object.entries(answer.headers).map(([name, value]) => [name, [value].flat()]));
  // A list with other events is what the service says, and no program can know better.
  const sent = wrong?.kind === "wrong-uuid" && !isDetail(url.pathname) ? undefined : wrong;
  const body =
    status >= 300 && !(readsRefusal && status >= 400 && status < 500)
      ? ({ kind: "unread" } as const)
      : bodyOf(bytes, sent, bodyCapBytes);
  return { status, headers, body, decodedBytes: bytes.length };
}

function bodyOf(bytes: Buffer, wrong: WrongAnswer | undefined, capBytes: number): ResponseBody {
  switch (wrong?.kind) {
    case "slow-body":
      return { kind: "broken", cause: "TIMED_OUT" };
    case "truncated":
      return { kind: "broken", cause: "CONNECTION_LOST" };
    case "cut":
      return { kind: "whole", bytes: bytes.subarray(0, bytes.length >> 1) };
    case "foreign-encoding":
      return { kind: "foreign" };
    case "oversize":
      return { kind: "oversize" };
    case "wrong-uuid":
      return {
        kind: "whole",
        bytes: Buffer.from(bytes.toString().replaceAll(/"uuid":"...../g, '"uuid":"00000')),
      };
    default:
      return bytes.length > capBytes ? { kind: "oversize" } : { kind: "whole", bytes };
  }
}
