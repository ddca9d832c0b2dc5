// A service without a network, for tests that need exact instants: the test decides each response.

import type { Clock } from "../../../../lambdas/job/runtime/clock.ts";
import {
  type HttpResponse,
  NoResponse,
  type Transport,
  type TransportRequest,
} from "../../../../lambdas/job/service/http/transport.ts";

export interface Script {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface ScriptedTransport extends Transport {
  /** The last part of the path of each request so far (`login`, or an event) and its cookie. */
  readonly sent: readonly (readonly [name: string, cookie: string | undefined])[];
}

/**
 * `respond` gets the request's name and how many times it was sent; undefined is a 200. Every login gives the
 * cookie `s=1`, `s=2` …; every event consists of its uuid, which is its name.
 */
export function scriptedTransport(
  respond: (name: string, nth: number) => Script | Promise<Script> | undefined = () => undefined,
): ScriptedTransport {
  const sent: [string, string | undefined][] = [];
  const send = async ({ url, headers }: TransportRequest): Promise<HttpResponse> => {
    const name = /[^/]+$/.exec(url.pathname)?.[0] ?? "";
    sent.push([name, headers["cookie"]]);
    const nth = sent.filter(([each]) => each === name).length;
    const script = (await respond(name, nth)) ?? {};
    const { status = 200 } = script;
    const all = { ...(name === "login" ? { "set-cookie": `s=${nth}` } : {}), ...script.headers };
    const bytes = Buffer.from(script.body ?? JSON.stringify({ uuid: name }));
    return {
      status,
      headers: new Map(Object.entries(all).map(([key, value]) => [key, [value]])),
      decodedBytes: bytes.length,
      body: status === 200 ? { kind: "whole", bytes } : { kind: "unread" },
    };
  };
  return { sent, send, close: async () => undefined };
}

/** For the nth request, from 1, so long after the first moment: the code it fails with; undefined: it is sent. */
export type FailureOf = (elapsedMs: number, nth: number) => string | undefined;

/** Codes of Node.js that come before anything is sent. */
const UNSENT = /^(?:EAI_AGAIN|ECONNREFUSED|EHOSTDOWN|EHOSTUNREACH|ENETDOWN|ENETUNREACH|ENOTFOUND)$/;

/** In front of another one. `sentAtMs` is when each request was sent, since now. */
export function failingTransport(
  clock: Clock,
  failureOf: FailureOf,
  behind: Pick<Transport, "send"> = scriptedTransport(),
): { readonly transport: Transport; readonly sentAtMs: readonly number[]; readonly beganAtMs: number } {
  const beganAtMs = clock.monotonicMs();
  const sentAtMs: number[] = [];
  const send: Transport["send"] = async (request, signal) => {
    const elapsedMs = clock.monotonicMs() - beganAtMs;
    const reason = failureOf(elapsedMs, sentAtMs.push(elapsedMs));
    if (reason !== undefined) throw new NoResponse(reason, undefined, undefined, UNSENT.test(reason));
    return behind.send(request, signal);
  };
  return { transport: { send, close: async () => undefined }, sentAtMs, beganAtMs };
}
