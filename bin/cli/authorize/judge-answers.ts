// Which of the answers that reach the listener is the person's own: any page in the browser can send one (RFC 9700 §4.7).

import type { IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import type { Terminal } from "../output/terminal.ts";
import { type Input, originOf } from "./read-answer.ts";

interface JudgeOptions {
  /** That of this authorization. */
  readonly state: string;
  /** An answer without state counts as the person's own. */
  readonly takesWithoutState: boolean;
  /** The terminal at which a person says whether it is; undefined where there is none. */
  readonly input: Input | undefined;
  readonly terminal: Pick<Terminal, "lines">;
  /** Aborts once no answer is awaited any more: a question that is open is withdrawn. */
  readonly over: AbortSignal;
}

/** Undefined for the awaited answer; else why it is not, which is told once for each reason and ends nothing. */
type Judge = (parameters: URLSearchParams, headers: IncomingHttpHeaders) => Promise<string | undefined>;

/** A question that a person has not answered yet, or has. */
interface Asked {
  readonly answer: string;
  readonly isOwn: Promise<boolean>;
  /** Its reason is why the answer is not taken. */
  readonly withdrawn: AbortController;
}

export function judgeAnswers(options: JudgeOptions): Judge {
  const { state, takesWithoutState, input, terminal, over } = options;
  const told = new Set<string>();
  let taken: string | undefined;
  let asked: Asked | undefined;

  const refuse = (why: string): string => {
    if (!told.has(why) && !over.aborted) terminal.lines([why]);
    told.add(why);
    return why;
  };
  const take = (answer: string): string | undefined => {
    taken ??= answer;
    return taken === answer ? undefined : refuse(FOREIGN);
  };
  const ask = (answer: string, from: Input): Asked => {
    terminal.lines(QUESTION);
    const withdrawn = new AbortController();
    return { answer, isOwn: isConfirmed(from, AbortSignal.any([withdrawn.signal, over])), withdrawn };
  };

  return async (parameters, headers) => {
    if (!mayBeNavigation(headers)) return refuse(NO_PAGE);
    const answer = parameters.toString();
    const origin = originOf(parameters, state);
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
