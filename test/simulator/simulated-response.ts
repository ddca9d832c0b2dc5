// A response of the simulated service before it is sent.

import { CANARY } from "./account.ts";

export interface SimulatedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
}

export const json = (
  status: number,
  body: string | Buffer,
  headers: SimulatedResponse["headers"] = {},
): SimulatedResponse => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8", ...headers },
  body,
});

/** An error of the service. It carries a canary: the client must not repeat the texts of errors. */
export const refusal = (
  status: number,
  message: string,
  headers: SimulatedResponse["headers"] = {},
): SimulatedResponse => json(status, JSON.stringify({ message, reference: CANARY.body }), headers);

/** A JSON object of these members, given as text; absent ones are left out. */
export const objectText = (...members: readonly (string | undefined)[]): string =>
  `{${members.filter((member) => member !== undefined && member !== "").join(",")}}`;

/** What a fault says in place of a server's own response. */
export const givenStatus = (given: {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}): SimulatedResponse =>
  given.body === undefined
    ? refusal(given.status, "Something went wrong.", given.headers)
    : json(given.status, given.body, given.headers);

/** A web page, with status 200. */
export const WAITING_PAGE: SimulatedResponse = {
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8" },
  body: `<!doctype html><title>Please wait</title><p>${CANARY.body}</p>`,
};
