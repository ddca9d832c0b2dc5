// A minimal client of the simulator, for the simulator's own tests.

import type { Simulator } from "./simulator.ts";

export const basic = ({ email, password }: { readonly email: string; readonly password: string }): string =>
  `Basic ${Buffer.from(`${email}:${password}`, "utf8").toString("base64")}`;

/** Logs in and returns the response. */
export const login = (simulator: Simulator, data: unknown = simulator.credentials): Promise<Response> =>
  fetch(`${simulator.url}/v1/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ meta: { version: "v1" }, data }),
  });

/** The `Cookie` header that an accepted login leads to. */
export const cookieOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");

/** A GET with Basic credentials, or with these headers in their place. */
export const get = (
  simulator: Simulator,
  path: string,
  headers?: Record<string, string>,
): Promise<Response> =>
  fetch(`${simulator.url}${path}`, {
    headers: headers ?? { authorization: basic(simulator.credentials) },
    redirect: "manual",
  });
