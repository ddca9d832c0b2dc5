// Requests of a process: with the lease, few logins, no password twice, and access tokens that are stored before their first use.

import type { TransportRequest } from "../../../lambdas/job/service/http/transport.ts";
import type { OnAnswer } from "../process/virtual-transport.ts";
import { hasDamage } from "./check-damage.ts";
import { readersSeeHead } from "./check-outcomes.ts";
import type { Model, ProcessFacts } from "./model.ts";

/** One login of a process. */
export interface Login {
  readonly process: string;
  readonly password: string;
  /** Of the session that it opened. */
  cookie: string | undefined;
  /** When its cookies end by their own word. */
  endsAtMs: number;
  /** Undefined: no answer came, or not yet. */
  status: number | undefined;
  /** The service has put it off, and not looked at it. */
  isPutOff: boolean;
  /** The answer says when to come again, which may be too late. */
  isAsked: boolean;
  /** A request with its session was answered otherwise than with a refusal. */
  wasAccepted: boolean;
  /** So many requests with it were refused, since it was accepted if it was. */
  refusals: number;
}

/** Returns what to call with the answer. */
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
  const isOfToday = facts.version === "today";
  if (session === undefined && isOfToday && model.world.plan.setting.method === "session")
    model.fail(`${facts.name} sends ${url.pathname} as a stranger`);
  return ({ status }) => {
    if (session) learn(session, status);
  };
}

/** In other words than 401 only a session that had been accepted is refused. */
function learn(session: Login, status: number): void {
  const isRefused = status === 401 || (session.wasAccepted && [302, 419, 440].includes(status));
  if (isRefused) session.refusals += 1;
  else if (!session.wasAccepted && [200, 202, 403, 404, 405, 410].includes(status)) {
    session.wasAccepted = true;
    session.refusals = 0;
  }
}

function watchRenewal(model: Model, process: ProcessFacts, refreshToken: string): OnAnswer {
  checkTokenRequest(model, process, refreshToken);
  const request: TokenRequest = { process, refreshToken, status: undefined };
  model.tokenRequests.push(request);
  return ({ status }) => {
    request.status = status;
  };
}

function watchLogin(model: Model, facts: ProcessFacts, password: string): OnAnswer {
  checkLogin(model, facts, password);
  const login: Login = {
    process: facts.name,
    password,
    cookie: undefined,
    endsAtMs: Number.POSITIVE_INFINITY,
    status: undefined,
    isPutOff: false,
    isAsked: false,
    wasAccepted: false,
    refusals: 0,
  };
  model.logins.push(login);
  const sentAtMs = model.world.timeline.nowMs;
  return ({ status, headers }) => {
    const [setCookie = ""] = headers.get("set-cookie") ?? [];
    const cookie = /=([^;]+)/.exec(setCookie)?.[1] ?? "";
    const age = /Max-Age=(\d+)/.exec(setCookie)?.[1];
    const endsAtMs = age === undefined ? Number.POSITIVE_INFINITY : sentAtMs + Number(age) * 1_000;
    const isAsked = headers.get("retry-after") !== undefined;
    const isPutOff = status === 503 || (status === 429 && isAsked);
    Object.assign(login, { status, cookie, endsAtMs, isPutOff, isAsked });
    // A process that is killed later may have forgotten the refusal before.
    if (status === 200) model.refusals.delete(password);
  };
}

/** Only with the lease, not for a run that has ended, and after the catalog was brought up to date. */
function checkRequest(model: Model, facts: ProcessFacts): void {
  const { name, start, runId, leaseFromMs } = facts;
  // A check goes on where the store fails: then no run can work either.
  const mayLackLease = start.command.name === "check" && model.isTroubled(start.id);
  if (leaseFromMs === undefined) {
    if (!mayLackLease) model.fail(`${name} sends a request without the lease`);
    return;
  }
  const endedAtMs = runId === undefined ? undefined : model.outcomesAtMs.get(runId);
  if (endedAtMs !== undefined && endedAtMs < leaseFromMs)
    model.fail(`${name} sends a request for the run ${runId}, which had ended`);
  if (!facts.hasSent) checkCatalog(model, facts);
}

/** Before its first request a run shows readers what is published. */
function checkCatalog(model: Model, { name, start, wasAlone }: ProcessFacts): void {
  if (start.command.name !== "run" || !wasAlone || hasDamage(model) || readersSeeHead(model)) return;
  model.fail(`${name} logs in before readers see the head, and they see ${model.visibility.shown}`);
}

/** A session that was never accepted is refused when three requests with it were. */
const TRIES_OF_A_NEW_SESSION = 3;
/** The most tries of one login: it is repeated where it was put off, and once where what came of it is not known. */
const MOST_TRIES = 6;
const MOST_UNSURE = 2;
const DAY_MS = 24 * 60 * 60_000;

const isRefused = (status: number | undefined): boolean => status === 404 || status === 401;

/** Before a login is sent. */
function checkLogin(model: Model, { name, start, version }: ProcessFacts, password: string): void {
  const own = model.logins.filter(({ process }) => process === name);
  if (own.some((login) => isRefused(login.status) && login.password === password)) {
    model.fail(`${name} sends a password again that was refused`);
    return;
  }
  const last = own.at(-1);
  const isPatient = version === "today" && last?.wasAccepted === false;
  // A wall clock that was set on is not told from a computer that slept.
  const wasSetOn = model.world.plan.items.some(
    (item) => item.kind === "clock" && item.start === start.id && (item.jump?.byMs ?? 0) > 0,
  );
  const isOver = last && (model.world.timeline.nowMs >= last.endsAtMs || wasSetOn);
  if (last?.status === 200 && !isOver && last.refusals < (isPatient ? TRIES_OF_A_NEW_SESSION : 1)) {
    model.fail(`${name} logs in again although its session was not refused`);
    return;
  }
  const tries = own.slice(own.findLastIndex(({ status }) => status === 200) + 1);
  const unsure = version === "today" ? tries.filter(({ isPutOff }) => !isPutOff).length : 0;
  if (tries.length >= MOST_TRIES || unsure >= MOST_UNSURE) model.fail(`${name} logs in again and again`);
  const refusedAtMs = model.refusals.get(password);
  const isWithheld = refusedAtMs !== undefined && model.world.timeline.nowMs - refusedAtMs < DAY_MS;
  if (start.by === "schedule" && isWithheld)
    model.fail(`${name} sends a password that was refused to an earlier start`);
}

/** A process has ended by itself: not because a login was put off for a moment. */
export function checkGivenUp(model: Model, { name, version }: ProcessFacts, code: string | undefined): void {
  const own = model.logins.filter(({ process }) => process === name);
  const tries = own.slice(own.findLastIndex(({ status }) => status === 200) + 1);
  const isFew = tries.length < MOST_TRIES && tries.every(({ isPutOff, isAsked }) => isPutOff && !isAsked);
  if (version === "today" && code === "SERVICE_UNAVAILABLE" && tries.length > 0 && isFew)
    model.fail(`${name} gives up a login that was put off`);
}

/** A process has ended by itself: what it learned of the credentials counts for the schedule from now on. */
export function rememberRefusal(model: Model, { name, start }: ProcessFacts): void {
  const { setting } = model.world.plan;
  const last = model.logins.findLast(({ process }) => process === name);
  if (last?.status === 200) model.refusals.clear();
  // A file on a laptop has no versions, and what goes wrong may keep a process from remembering.
  if (setting.warehouse !== "bucket" || last === undefined || model.isTroubled(start.id)) return;
  if (isRefused(last.status)) model.refusals.set(last.password, model.world.timeline.nowMs);
}

/** One request of the token endpoint. */
export interface TokenRequest {
  readonly process: ProcessFacts;
  readonly refreshToken: string;
  /** Undefined until its answer has come. */
  status: number | undefined;
}

const MOST_OF_A_RENEWAL = 3;

function checkTokenRequest(model: Model, facts: ProcessFacts, refreshToken: string): void {
  const { name, start } = facts;
  const own = model.tokenRequests.filter(({ process }) => process === facts);
  const failed = own.slice(own.findLastIndex(({ status }) => status === 200) + 1);
  const isPutOff = (status = 0): boolean => facts.version === "today" && (status === 503 || status === 429);
  const unsure = failed.filter(({ status }) => !isPutOff(status));
  if (failed.length >= MOST_TRIES || unsure.length >= MOST_OF_A_RENEWAL)
    model.fail(`${name} sends token requests for a renewal again and again`);
  const other = model.tokenRequests.find(
    ({ process, status, ...request }) =>
      process !== facts && !process.isOver && status === undefined && request.refreshToken === refreshToken,
  );
  const isTroubled = other && (model.isTroubled(start.id) || model.isTroubled(other.process.start.id));
  if (other && !isTroubled) model.fail(`${name} renews at the same time as ${other.process.name}`);
}

function checkAccessToken(model: Model, { name }: ProcessFacts, authorization: string): void {
  const accessToken = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (accessToken !== undefined && !model.account.tokens.hadAccessToken(accessToken))
    model.fail(`${name} uses an access token before it is stored`);
}
