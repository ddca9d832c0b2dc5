// A request to the identity provider: the endpoint, and its parameters.

import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { IdentityTarget } from "./identity-faults.ts";

export interface IdentityRequest {
  /** Undefined: no endpoint of the provider, or a token request without a known grant. */
  readonly target: IdentityTarget | undefined;
  readonly method: string;
  readonly path: string;
  /** Of the form where there is one, else of the address. */
  readonly parameters: URLSearchParams;
}

/** A form counts only if its type says so (RFC 6749 §4.1.3): JSON, for one, has no parameters. */
export const readIdentityRequest = async (message: IncomingMessage): Promise<IdentityRequest> => {
  const { method = "", url = "", headers } = message;
  const { pathname: path, searchParams } = new URL(url, "http://127.0.0.1");
  const isForm = /^application\/x-www-form-urlencoded\b/.test(headers["content-type"] ?? "");
  const body = await text(message);
  const parameters = method === "POST" ? new URLSearchParams(isForm ? body : "") : searchParams;
  return { target: targetOf(path, parameters), method, path, parameters };
};

const targetOf = (path: string, parameters: URLSearchParams): IdentityTarget | undefined => {
  if (path === "/oauth/authorize") return "authorize";
  const grant = path === "/oauth/token" ? parameters.get("grant_type") : null;
  return grant === "authorization_code" || grant === "refresh_token" ? grant : undefined;
};
