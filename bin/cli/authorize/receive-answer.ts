// The way with a browser on this machine: listens for the answer, and shows the person how it ended.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Terminal } from "../output/terminal.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";
import { CallbackListener } from "./callback-listener.ts";
import { judgeAnswers } from "./judge-answers.ts";
import type { Input } from "./paste-answer.ts";
import { originOf, readAnswer } from "./read-answer.ts";
import type { PageText } from "./result-page.ts";
import type { OpenBrowser } from "./system-browser.ts";
import { waitForAnswer } from "./wait-for-answer.ts";

/** A browser asks for the page at once; one that was closed never does. */
const SHOW_MS = 5_000;

export interface ReceiveAnswerOptions {
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
    `The answer is awaited at ${request.redirectUri} for ten minutes. Ctrl-C ends the wait.`,
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
