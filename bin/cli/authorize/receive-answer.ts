// The way with a browser on this machine: listens for the answer, and shows the person how it ended.

import type { IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isLoopback } from "../../../lambdas/job/network/proxies.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Terminal } from "../output/terminal.ts";
import { CallbackListener, type Judge, type PageText } from "./callback-listener.ts";
import type { AuthorizationRequest } from "./code-exchange.ts";
import { type Input, originOf, readAnswer, waitForAnswer } from "./read-answer.ts";
import type { OpenBrowser } from "./system-browser.ts";

/** A browser asks for the page at once; one that was closed never does. */
const SHOW_MS = 5_000;

/** Whether this program can listen on it, so that the answer comes by itself. */
export function canListenOn(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && isLoopback(hostname);
}

interface ReceiveAnswerOptions {
  readonly request: AuthorizationRequest;
  /** Undefined: the person opens the address. */
  readonly openBrowser: OpenBrowser | undefined;
  /** An answer without state counts as the person's own. */
  readonly takesWithoutState: boolean;
  /** The terminal at which a person says whether it is; undefined where there is none. */
  readonly input: Input | undefined;
  readonly terminal: Pick<Terminal, "lines">;
  readonly clock: Pick<Clock, "sleep">;
  readonly signal: AbortSignal;
}

/**
 * Throws the error of the answer or of `exchange`, after the page has told it; `AUTHORIZATION_EXPIRED` after ten minutes;
 * `CONFIG_INVALID` where the redirect address is taken.
 * @param exchange makes tokens of the code and stores them
 */
export async function receiveAnswer(
  options: ReceiveAnswerOptions,
  exchange: (code: string) => Promise<void>,
): Promise<void> {
  const { request, terminal } = options;
  const judge = judgeAnswers(options);
  const listener = await CallbackListener.start(request.redirectUri, judge.judge);
  try {
    announce(options);
    const parameters = await waitForAnswer(listener.answer, options);
    try {
      await exchange(readAnswer(parameters, request.state));
    } catch (error) {
      await shown(listener, failurePage(error), options);
      throw error;
    }
    const isUnsure = options.takesWithoutState && originOf(parameters, request.state) === "unknown";
    terminal.lines(isUnsure ? [ANSWERED, WITHOUT_STATE] : [ANSWERED]);
    await shown(listener, DONE_PAGE, options);
  } finally {
    judge.end();
    await listener.close();
  }
}

function announce({ request, openBrowser, terminal }: ReceiveAnswerOptions): void {
  terminal.lines([
    openBrowser
      ? "Your browser opens this address. Log in there, and allow the access:"
      : "Open this address in a browser on this machine. Log in there, and allow the access:",
    request.address,
    `Waiting up to ten minutes for the answer at ${request.redirectUri}. Ctrl-C stops.`,
  ]);
  void openBrowser?.(request.address).then((isOpen) => {
    if (!isOpen) terminal.lines(["No browser could be opened. Open the address above yourself."]);
  });
}

async function shown(
  listener: CallbackListener,
  page: PageText,
  { clock, signal }: ReceiveAnswerOptions,
): Promise<void> {
  const over = new AbortController();
  const limit = clock.sleep(SHOW_MS, AbortSignal.any([signal, over.signal])).catch(() => undefined);
  await Promise.race([listener.show(page), limit]);
  over.abort();
}

const ANSWERED = "The identity provider has answered.";
const WITHOUT_STATE =
  "Its answer has no state, so this program cannot tell that it came from your own login. If you have not just logged in and allowed the access, start authorize again.";

const DONE_PAGE: PageText = {
  kind: "done",
  title: "Access is authorized",
  paragraphs: ["The tokens are stored. You can close this page and return to the terminal."],
};

function failurePage(error: unknown): PageText {
  const { code, message } =
    error instanceof SyncError
      ? error
      : { code: "Unexpected error", message: "The terminal shows what is known about it." };
  return {
    kind: "failed",
    title: "Access is not authorized",
    paragraphs: [message, `Code: ${code}. The terminal says the same. You can close this page.`],
  };
}

/** Which of the answers that reach the listener is the person's own: any page in the browser can send one (RFC 9700 §4.7). */
interface JudgeOptions {
  readonly request: AuthorizationRequest;
  readonly takesWithoutState: boolean;
  readonly input: Input | undefined;
  readonly terminal: Pick<Terminal, "lines">;
}

/** A question that a person has not answered yet, or has. */
interface Asked {
  readonly answer: string;
  readonly isOwn: Promise<boolean>;
  /** Its reason is why the answer is not taken. */
  readonly withdrawn: AbortController;
}

/** `end` withdraws a question that is open. What is refused is told, each reason once, and ends nothing. */
function judgeAnswers({ request, takesWithoutState, input, terminal }: JudgeOptions): {
  readonly judge: Judge;
  readonly end: () => void;
} {
  const told = new Set<string>();
  let isOver = false;
  let taken: string | undefined;
  let asked: Asked | undefined;

  const refuse = (why: string): PageText => {
    if (!told.has(why) && !isOver) terminal.lines([why]);
    told.add(why);
    return { kind: "failed", title: "This is not the expected answer", paragraphs: [why] };
  };
  const take = (answer: string): PageText | undefined => {
    taken ??= answer;
    return taken === answer ? undefined : refuse(FOREIGN);
  };
  const ask = (answer: string, from: Input): Asked => {
    terminal.lines(QUESTION);
    const withdrawn = new AbortController();
    return { answer, isOwn: isConfirmed(from, withdrawn.signal), withdrawn };
  };

  const judge: Judge = async (parameters, headers) => {
    if (!mayBeNavigation(headers)) return refuse(NO_PAGE);
    const answer = parameters.toString();
    const origin = originOf(parameters, request.state);
    if (origin === "foreign") return refuse(FOREIGN);
    if (origin === "own") asked?.withdrawn.abort(FOREIGN);
    if (origin === "own" || takesWithoutState || taken !== undefined) return take(answer);
    if (input === undefined) return refuse(NO_TERMINAL);
    if (asked !== undefined && asked.answer !== answer) {
      asked.withdrawn.abort(SEVERAL);
      return refuse(SEVERAL);
    }
    asked ??= ask(answer, input);
    const mine = asked;
    if (await mine.isOwn) return take(answer);
    if (asked === mine) asked = undefined;
    const { aborted, reason } = mine.withdrawn.signal;
    return refuse(aborted ? String(reason) : NOT_CONFIRMED);
  };
  const end = (): void => {
    isOver = true;
    asked?.withdrawn.abort(NOT_CONFIRMED);
  };
  return { judge, end };
}

/**
 * What Fetch Metadata (W3C) shows to be a script, a frame, an image or a page that is only prepared brings no answer: the
 * person's browser goes to the address as a page. Older browsers send nothing of it. The site may be any: that of the
 * identity provider is another.
 */
function mayBeNavigation(headers: IncomingHttpHeaders): boolean {
  const { "sec-fetch-mode": mode = "navigate", "sec-fetch-dest": destination = "document" } = headers;
  return mode === "navigate" && destination === "document" && headers["sec-purpose"] === undefined;
}

/** False once the question is withdrawn, and where the input ends. */
async function isConfirmed(input: Input, withdrawn: AbortSignal): Promise<boolean> {
  const reader = createInterface({ input });
  withdrawn.addEventListener("abort", () => reader.close());
  try {
    for await (const line of reader) if (line.trim() !== "") return /^y(?:es)?$/i.test(line.trim());
    return false;
  } finally {
    reader.close();
  }
}

const WAITS_ON = "It was refused. The terminal keeps waiting for yours.";
const NO_PAGE = `An answer came from inside another page, not from a page that the browser went to. ${WAITS_ON}`;
const FOREIGN = `An answer came that does not belong to this authorization: its state is another one, or missing. It is from an earlier attempt, or from another page. ${WAITS_ON} Use the newest address only.`;
const NO_TERMINAL = `An answer came without state, so this program cannot tell that it comes from your own login, and there is no terminal at which it could ask. ${WAITS_ON} If your identity provider returns no state, end this with Ctrl-C and authorize again with --paste or --yes.`;
const SEVERAL = `Two different answers without state came, and at least one is from another page. Both are refused, and the program keeps waiting. Close other pages and open the address again, or authorize again with --paste.`;
const NOT_CONFIRMED = `An answer without state came, and was not confirmed. ${WAITS_ON}`;
const QUESTION = [
  "An answer came without state, so this program cannot tell whether it comes from your own login or from another page.",
  "Have you just logged in at the identity provider and decided there? Then type yes and press Enter. After anything else the program keeps waiting.",
];
