// Each request of a process, before it is sent, and what its answer means for the next ones.

import type { TransportRequest } from "../../../lambdas/job/service/http/transport.ts";
import { checkAccessToken, checkTokenRequest, type TokenRequest } from "../oauth/check-tokens.ts";
import { checkLogin } from "./check-logins.ts";
import { checkRequest } from "./check-requests.ts";
import type { Model } from "./model.ts";
import type { Login, ProcessFacts } from "./process-facts.ts";

type OnAnswer = (status: number, cookie: string) => void;

/** Returns what to call with the answer's status and the session that it opens. */
export function watchRequest(
  model: Model,
  facts: ProcessFacts,
  { method, url, headers, body = "" }: TransportRequest,
): OnAnswer {
  if (url.pathname === "/oauth/token") {
    const refreshToken = new URLSearchParams(body).get("refresh_token") ?? "";
    return watchRenewal(model, facts, refreshToken);
  }
  checkRequest(model, facts);
  checkAccessToken(model, facts, headers["authorization"] ?? "");
  facts.hasSent = true;
  if (method === "POST") return watchLogin(model, facts, /"password":"(\w+)"/.exec(body)?.[1] ?? "");
  const session = model.logins.find(({ cookie }) => cookie && headers["cookie"]?.includes(cookie));
  return (status) => {
    if (session) learn(session, status);
  };
}

/** In other words than 401 only a session that had been accepted is refused. */
function learn(session: Login, status: number): void {
  const isRefused = status === 401 || (session.wasAccepted && [302, 419, 440].includes(status));
  if (isRefused) session.refusals += 1;
  else if (!session.wasAccepted && [200, 202, 403, 404, 410].includes(status)) {
    session.wasAccepted = true;
    session.refusals = 0;
  }
}

function watchRenewal(model: Model, process: ProcessFacts, refreshToken: string): OnAnswer {
  checkTokenRequest(model, process, refreshToken);
  const request: TokenRequest = { process, refreshToken, status: undefined };
  model.tokenRequests.push(request);
  return (status) => {
    request.status = status;
  };
}

function watchLogin(model: Model, facts: ProcessFacts, password: string): OnAnswer {
  checkLogin(model, facts, password);
  const login: Login = {
    process: facts.name,
    password,
    cookie: undefined,
    status: undefined,
    wasAccepted: false,
    refusals: 0,
  };
  model.logins.push(login);
  return (status, cookie) => {
    Object.assign(login, { status, cookie });
    // A process that is killed later may have forgotten the refusal before.
    if (status === 200) model.refusals.delete(password);
  };
}
