// Asks a person at a terminal. What is typed is echoed by this program alone, so a secret never is.

import { lookup } from "node:dns/promises";
import { on } from "node:events";
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import * as z from "zod";
import type { FoundSetting } from "../../../lambdas/job/commands/check-service.ts";
import {
  type PasswordCredentials,
  parseCredentials,
  type ServiceCredentials,
} from "../../../lambdas/job/credentials/credentials.ts";
import { readInput } from "../../../lambdas/job/credentials/file-credentials.ts";
import { advise, setting } from "../../../lambdas/job/errors/advice.ts";
import { codeOf, SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isLoopback, proxyFor } from "../../../lambdas/job/network/proxies.ts";
import { parseSetting } from "../../../lambdas/job/settings/setting-problem.ts";
import { authUrl, baseUrl } from "../../../lambdas/job/settings/values.ts";
import { OPTIONS, type OptionValues } from "../options/options.ts";
import type { Input, Output, Terminal } from "../output/terminal.ts";
import type { CommandContext } from "../wiring/command.ts";

interface Question<Value> {
  /** The option or the variable that gives the answer. */
  readonly name: string;
  readonly words: string;
  /** What Enter alone means. */
  readonly fallback?: string | undefined;
  readonly isHidden?: true;
  /** Of the answer; after one that it does not accept the question is asked again. */
  readonly schema: z.ZodType<Value>;
  /** What may be meant by such an answer: Enter alone then means this, if the schema accepts it. */
  readonly meant?: (answer: string) => string | undefined;
}

class Questions {
  readonly #input: Input;
  readonly #terminal: Terminal;
  readonly #signal: AbortSignal;
  readonly #reader: Interface;
  /** What is typed before it is asked for waits here. */
  readonly #lines: AsyncIterator<readonly string[], undefined>;
  #shown: string | undefined;

  constructor(input: Input, terminal: Terminal, signal: AbortSignal, stopped: string) {
    this.#input = input;
    this.#terminal = terminal;
    // A terminal that is read key by key echoes nothing by itself.
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    this.#reader = createInterface({ input, output, terminal: true, historySize: 0 });
    const stop = new AbortController();
    this.#signal = AbortSignal.any([signal, stop.signal]);
    this.#lines = on(this.#reader, "line", { signal: this.#signal, close: ["close"] });
    // What follows may be the next answer, which may be a secret.
    this.#reader.on("line", () => {
      this.#shown = undefined;
    });
    this.#reader.on("SIGINT", () => stop.abort(new SyncError("INTERRUPTED", stopped)));
    input.on("keypress", this.#draw);
  }

  /** Throws `INTERRUPTED` for Ctrl-C, and `CONFIG_INVALID` where the input ends. */
  async ask<Value>({ words, fallback: first, isHidden, schema, meant }: Question<Value>): Promise<Value> {
    let fallback = first;
    for (;;) {
      const asked = `${words}${fallback === undefined ? "" : ` [${fallback}]`}: `;
      const line = withoutErased(await this.#line(asked, isHidden === true));
      const answer = isHidden ? line : line.trim();
      this.#terminal.lines([isHidden ? asked : `${asked}${answer}`]);
      try {
        return parseSetting(schema, answer === "" && fallback !== undefined ? fallback : answer);
      } catch (error) {
        if (!(error instanceof SyncError)) throw error;
        this.#terminal.message(`  ${error.message}`);
        const offered = meant?.(answer);
        if (offered !== undefined && schema.safeParse(offered).success) fallback = offered;
      }
    }
  }

  close(): void {
    this.#input.removeListener("keypress", this.#draw);
    if (this.#terminal.isInteractive) this.#terminal.erase();
    this.#reader.close();
    this.#input.pause();
  }

  async #line(asked: string, isHidden: boolean): Promise<string> {
    const terminal = this.#terminal;
    if (!isHidden) this.#shown = asked;
    if (terminal.isInteractive) terminal.redraw([asked]);
    else terminal.lines([asked]);
    const next = await this.#lines.next().catch((error: unknown) => {
      this.#signal.throwIfAborted();
      throw error;
    });
    if (next.done) throw new SyncError("CONFIG_INVALID", ENDED);
    if (terminal.isInteractive) terminal.erase();
    const [line = ""] = next.value;
    return line;
  }

  readonly #draw = (): void => {
    if (this.#shown !== undefined && this.#terminal.isInteractive)
      this.#terminal.redraw([`${this.#shown}${this.#reader.line}`]);
  };
}

const STOPPED = "Stopped before all questions were answered.";
const ENDED =
  "Standard input ended before all questions were answered. Nothing was written. Start init again.";

/** Where `TERM` is `dumb`, the reader passes on backspaces as characters. */
function withoutErased(line: string): string {
  const kept: string[] = [];
  for (const character of line) {
    if (character === "\u007f" || character === "\b") kept.pop();
    else kept.push(character);
  }
  return kept.join("");
}

/**
 * What is given, for a secret in its variable; else what a person at a terminal says. Without a terminal a secret is the
 * line on standard input, anything else its fallback. Throws `CONFIG_INVALID` naming what is missing.
 */
export type Ask = <Value>(given: Value | undefined, question: Question<Value>) => Promise<Value>;

interface AnswersOptions extends Output {
  readonly stdin: () => Input;
  readonly signal: AbortSignal;
  readonly environment: NodeJS.ProcessEnv;
}

export async function withAnswers<T>(
  { stdin, stderr, signal, environment }: AnswersOptions,
  work: (ask: Ask) => Promise<T>,
  stopped = `${STOPPED} Nothing was written.`,
): Promise<T> {
  const input = stdin();
  const questions = input.isTTY ? new Questions(input, stderr, signal, stopped) : undefined;
  const ask: Ask = async (given, question) => {
    const { name, fallback, isHidden, schema } = question;
    if (given !== undefined) return given;
    // An empty variable counts as not set.
    const secret = isHidden && environment[name];
    if (secret) return parseSetting(schema, secret);
    if (questions) return questions.ask(question);
    if (fallback !== undefined) return parseSetting(schema, fallback);
    if (!isHidden) throw missing(name, "There is no terminal to ask at.");
    const read = await readInput(input, signal, (problem) => {
      return new SyncError("CONFIG_INVALID", `Standard input ${problem}, so it cannot be the secret.`);
    });
    const text = read.replace(/\r?\n$/, "");
    if (text !== "" && !/[\r\n]/.test(text)) return parseSetting(schema, text);
    throw missing(name, `Standard input has ${text === "" ? "nothing" : "more than one line"}.`);
  };
  return await work(ask).finally(() => questions?.close());
}

function missing(name: string, why: string): SyncError {
  const how = name.startsWith("--") ? `Give ${name}` : `Set ${name}, or pipe it into standard input`;
  return new SyncError("CONFIG_INVALID", `${how}. ${why} Nothing was written.`);
}

/** A host without a scheme, with the scheme that is accepted for it. */
function withScheme(answer: string): string | undefined {
  const url = answer.includes("://") ? null : URL.parse(`http://${answer}`);
  if (url === null) return undefined;
  return `${isLoopback(url.hostname) ? "http" : "https"}://${answer}`;
}

/** The identity provider's. @param before that of the other accounts */
export function askAuthUrl(given: string | undefined, before: string | undefined, ask: Ask): Promise<string> {
  const words = "Address of the identity provider";
  return ask(given, { name: "--auth-url", words, schema: authUrl, meant: withScheme, fallback: before });
}

/**
 * Asks a person again, once, where this computer does not know the host: Enter keeps the address.
 * @param before that of the other accounts
 */
export async function askBaseUrl(
  given: string | undefined,
  before: string | undefined,
  { stderr, proxies }: Pick<CommandContext, "stderr" | "proxies">,
  ask: Ask,
): Promise<string> {
  const question = {
    name: "--base-url",
    words: "Address of the service",
    schema: baseUrl,
    meant: withScheme,
  };
  const address = await ask(given, { ...question, fallback: before });
  const url = new URL(address);
  const { hostname } = url;
  if (given !== undefined || proxyFor(url, proxies) !== undefined) return address;
  const isKnown = await lookup(hostname.replace(/^\[|\]$/g, "")).then(
    () => true,
    (error: unknown) => codeOf(error) !== "ENOTFOUND",
  );
  if (isKnown) return address;
  stderr.message(`  There is no host ${hostname}. Correct the address, or keep it with Enter.`);
  return ask(undefined, { ...question, fallback: address });
}

/** The credentials of a new account. */
export async function askCredentials(
  values: OptionValues<"method" | "email" | "clientId">,
  ask: Ask,
): Promise<ServiceCredentials> {
  const method = await ask(values.method, {
    name: "--method",
    words: "Method: session (recommended), basic or oauth",
    fallback: "session",
    schema: OPTIONS.method.schema,
  });
  switch (method) {
    case "session":
    case "basic":
      return askPassword(method, values.email, ask);
    case "oauth": {
      const client_id = await ask(values.clientId, {
        name: "--client-id",
        words: "client_id",
        schema: filledText,
      });
      const client_secret = await ask(undefined, secret("BRAND_CLIENT_SECRET", "client_secret"));
      return parseCredentials(JSON.stringify({ method, client_id, client_secret }));
    }
  }
}

/** @param before the address that the service has refused with its password: Enter keeps it */
export async function askPassword(
  method: PasswordCredentials["method"],
  given: string | undefined,
  ask: Ask,
  before?: string,
): Promise<ServiceCredentials> {
  const schema = method === "basic" ? withoutColon : filledText;
  const email = await ask(given, { name: "--email", words: "E-mail address", schema, fallback: before });
  const password = await ask(undefined, secret("BRAND_PASSWORD", "Password"));
  return parseCredentials(JSON.stringify({ method, email, password }));
}

const filledText = OPTIONS.email.schema;
/** The message repeats no address. */
const withoutColon = filledText.refine(
  (text) => !text.includes(":"),
  "expected a text without a colon, because the method is basic, and got one with a colon",
);

function secret(name: string, words: string): Question<string> {
  return { name, words: `${words} (not shown)`, isHidden: true, schema: filledText };
}

const YES_OR_NO = z.string().transform((text, context) => {
  const answer = text.toLowerCase();
  if (answer === "yes" || answer === "y") return true;
  if (answer === "no" || answer === "n") return false;
  context.addIssue("expected yes or no");
  return z.NEVER;
});

/** Undefined where there is no person at a terminal who sees the question and answers it. */
async function askAtTerminal<Value>(
  context: AnswersOptions,
  question: Omit<Question<Value>, "name">,
): Promise<Value | undefined> {
  const { stdin, stderr } = context;
  if (!stdin().isTTY || stderr.width === undefined) return undefined;
  const answering = withAnswers(context, (ask) => ask(undefined, { name: "", ...question }), STOPPED);
  return answering.catch((error: unknown) => {
    // The input has ended.
    if (error instanceof SyncError && error.code === "CONFIG_INVALID") return undefined;
    throw error;
  });
}

/** Of a list of which nothing says that it is whole. Undefined for Enter too, by which a person does not know. */
export function askIsAll(context: AnswersOptions): Promise<boolean | undefined> {
  const words = "Is that all? yes, no, or Enter if you do not know";
  return askAtTerminal(context, {
    words,
    schema: z.union([z.literal("").transform(() => undefined), YES_OR_NO]),
  });
}

export const NOT_ALL = advise`Then ask the service's operator how the list is paged, and set ${setting("nextPage")} to it: links, or a query such as page={page}.`;

/** Whether to write a setting that works. */
export function askToWrite(
  context: AnswersOptions,
  { setting, value }: FoundSetting,
  file: string,
): Promise<boolean | undefined> {
  const words = `"${setting}": ${JSON.stringify(value)} works. Write it into ${file}? yes or no`;
  return askAtTerminal(context, { words, fallback: "yes", schema: YES_OR_NO });
}
