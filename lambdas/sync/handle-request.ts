// One invocation: understands the request, and lets it be done with the ports and in the time that the invocation has.

import type { Context } from "aws-lambda";
import { shownDefect } from "../job/errors/shown-text.ts";
import { type ErrorCode, SyncError } from "../job/errors/sync-error.ts";
import { serviceOpener } from "../job/run/open-account.ts";
import { startedEvent } from "../job/run/record/run-event.ts";
import type { Progress, RunPorts } from "../job/run/run-ports.ts";
import type { Clock } from "../job/runtime/clock.ts";
import type { Logger } from "../job/runtime/logger.ts";
import { accountStore } from "../job/storage/store.ts";
import { wordsIn } from "../words/hold.ts";
import { ANY_SHELL, sayError } from "../words/style.ts";
import { parseRequest } from "./actions.ts";
import { accountRunSettings, type FunctionEnvironment } from "./environment.ts";
import type { FunctionPorts, Invocation } from "./function-ports.ts";
import { reportResult, reportUnexpected, tell } from "./report-result.ts";
import { styleInAws } from "./style-in-aws.ts";

/** What is known of one invocation. */
interface Start {
  readonly account?: string;
  readonly run_id?: string;
}

/**
 * Throws `InvocationError` for a run that failed and for everything else that did not work.
 * @param compose makes what the invocation works with; it may throw as well.
 */
export async function handleRequest(
  compose: () => FunctionPorts,
  logger: FunctionPorts["logger"],
  event: unknown,
  context: Context,
): Promise<object> {
  let start: Start = {};
  const about = (fields: Start): void => {
    start = { ...start, ...fields };
    logger.about(fields);
  };
  let ports: FunctionPorts | undefined;
  logger.begin(context);
  try {
    ports = compose();
    const accounts = Object.keys(ports.environment.accounts);
    const { request, respond } = parseRequest(event, accounts, ports.clock.now());
    const { account } = request;
    about({ account });
    using limit = timeLimit(context);
    // Awaited: the time limit ends with this block.
    return await respond(invocationOf(ports, account, context, limit, (run_id) => about({ run_id })));
  } catch (error) {
    const failure = invocationError(error, start, ports?.environment);
    if (error instanceof SyncError) {
      logger.error(failure.message, { error_code: error.code, ...error.fields });
    } else if (ports && start.account !== undefined) {
      await reportUnexpected(ports, start.account, start.run_id ?? null, error);
    }
    throw failure;
  }
}

function invocationOf(
  ports: FunctionPorts,
  account: string,
  context: Context,
  limit: TimeLimit,
  onRunId: (runId: string) => void,
): Invocation {
  const { environment, logger, clock } = ports;
  const own = environment.accounts[account];
  if (own === undefined) throw new Error("the request names an unknown account");
  const settings = accountRunSettings(own, environment);
  const style = styleInAws(environment, account);
  const host: RunPorts = {
    ...ports,
    ...limit,
    store: accountStore(ports.store, account),
    words: wordsIn(style),
    // A process of Lambda cannot tell whether another one still exists, so a start waits for the lease.
    process: {},
    isGone: () => false,
    openService: serviceOpener(settings, {
      ...ports,
      credentials: ports.credentials(own.secretId),
      tokens: tokensOf(own, ports.tokens),
      timeLeftMs: () => limit.timeLeftMs() - limit.reserveMs,
      isClockRight: true,
    }),
    onProgress: progressLog(logger, clock),
    onRunId,
    onStarted: (started) => tell(ports, account, async () => startedEvent(account, started)),
    onAbandoned: async (result) => {
      await reportResult(result, { ports, host, settings, style });
    },
    requestId: context.awsRequestId,
  };
  return { ports, host, settings, style, context };
}

/** Undefined for an account without an identity provider. */
function tokensOf(
  { tokensSecretId, authUrl }: FunctionEnvironment["accounts"][string],
  open: FunctionPorts["tokens"],
) {
  return authUrl === undefined || tokensSecretId === undefined ? undefined : async () => open(tokensSecretId);
}

/** Enough to free the lease, write the run log and send metrics and event before Lambda ends the process. */
const CLOSING_MS = 10_000;
/** The same, and to wait for what is in flight. */
const RESERVE_MS = 30_000;

interface TimeLimit extends Disposable {
  readonly timeLeftMs: () => number;
  /** The end of the invocation, in milliseconds, in which no request is sent and no step begun. */
  readonly reserveMs: number;
  /** Aborts with `INTERRUPTED` shortly before the end. */
  readonly signal: AbortSignal;
}

/** In real time, not by the run's clock: Lambda's limit is in real time. */
export function timeLimit(context: Pick<Context, "getRemainingTimeInMillis">): TimeLimit {
  const timeLeftMs = (): number => context.getRemainingTimeInMillis();
  const limitMs = timeLeftMs();
  const { reserveMs, closingMs } = timeKept(limitMs);
  const stop = new AbortController();
  const interrupted = new SyncError(
    "INTERRUPTED",
    "The time limit of the invocation was reached in the middle of a step. Fetched events are kept: the next start of this run resumes it.",
    {
      next: "If this happens again, the service responds too slowly, or its budget is too small for this many events.",
    },
  );
  const timer = setTimeout(() => stop.abort(interrupted), Math.max(0, limitMs - closingMs));
  return { timeLeftMs, reserveMs, signal: stop.signal, [Symbol.dispose]: () => clearTimeout(timer) };
}

/** What is kept of a time limit. Half of a short one is for work, too. */
export function timeKept(limitMs: number): { readonly reserveMs: number; readonly closingMs: number } {
  return { reserveMs: Math.min(RESERVE_MS, limitMs / 2), closingMs: Math.min(CLOSING_MS, limitMs / 4) };
}

/** Logs once a minute how many events are done, so that a person who follows the log sees progress. */
const EVERY_MS = 60_000;

export function progressLog(logger: Logger, clock: Pick<Clock, "monotonicMs">): (progress: Progress) => void {
  let loggedAtMs = clock.monotonicMs();
  return ({ done, total, retries }) => {
    if (clock.monotonicMs() < loggedAtMs + EVERY_MS) return;
    loggedAtMs = clock.monotonicMs();
    logger.info(`${done} of ${total} events are done`, { done, total, retries });
  };
}

/** The `name` of such an error is the code: log filters and callers tell failures apart by it. */
class InvocationError extends Error {
  override readonly name: ErrorCode | "UNEXPECTED";

  constructor(name: ErrorCode | "UNEXPECTED", message: string) {
    super(message);
    this.name = name;
  }
}

/** Says what failed, what to do, and for which account and run. */
export function invocationError(
  error: unknown,
  start: Start,
  environment?: Parameters<typeof styleInAws>[0],
): InvocationError {
  if (error instanceof SyncError) {
    const { account } = start;
    const style = environment && account !== undefined ? styleInAws(environment, account) : ANY_SHELL;
    return new InvocationError(error.code, `${sayError(error, style)}${suffix(start)}`);
  }
  const { message, frames } = shownDefect(error);
  const failure = new InvocationError("UNEXPECTED", `${message}${suffix(start)}`);
  failure.stack = [`${failure.name}: ${failure.message}`, ...frames].join("\n");
  return failure;
}

function suffix({ account, run_id }: Start): string {
  const parts = [
    ...(account === undefined ? [] : [`account ${account}`]),
    ...(run_id === undefined ? [] : [`run ${run_id}`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}
