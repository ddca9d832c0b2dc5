// A refusal of the token endpoint (RFC 6749 §5.2).

import { CANARY } from "../account.ts";
import { json, type SimulatedResponse } from "../simulated-response.ts";

export const NOT_STORED = { "cache-control": "no-store", pragma: "no-cache" };

/** The description carries a canary: the client must not repeat it. */
export const oauthError = (error: string, status = 400): SimulatedResponse =>
  json(status, JSON.stringify({ error, error_description: CANARY.body }), NOT_STORED);
