// A service without a network, for tests that need exact instants: the test decides each response.

import type {
  HttpResponse,
  Transport,
  TransportRequest,
} from "../../../../lambdas/job/service/http/transport.ts";

interface Script {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
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
    const all = { ...script.headers, ...(name === "login" ? { "set-cookie": `s=${nth}` } : {}) };
    const bytes = Buffer.from(JSON.stringify({ uuid: name }));
    return {
      status,
      headers: new Map(Object.entries(all).map(([key, value]) => [key, [value]])),
      decodedBytes: bytes.length,
      body: status === 200 ? { kind: "whole", bytes } : { kind: "unread" },
    };
  };
  return { sent, send, close: async () => undefined };
}
