// Tells a chat or a program how a run ended. Whatever happens here changes neither the outcome nor the exit code.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type Proxies, proxyFor } from "../../../lambdas/job/network/proxies.ts";
import { failedStartEvent, type RunEvent, runEvent } from "../../../lambdas/job/run/record/run-event.ts";
import type { RunResult } from "../../../lambdas/job/run/record/run-result.ts";
import type { Clock } from "../../../lambdas/job/runtime/clock.ts";
import type { Random } from "../../../lambdas/job/runtime/random.ts";
import { VERSION } from "../../../lambdas/job/runtime/version.ts";
import {
  type HttpResponse,
  NoResponse,
  type Transport,
} from "../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../lambdas/job/service/http/undici-transport.ts";
import { retryAfterMs, retryDelayMs, statusClass } from "../../../lambdas/job/service/requests/retry.ts";
import { runInstant } from "../../../lambdas/job/storage/layout.ts";
import type { OptionValues } from "../options/options.ts";
import { AUTHORIZE_OPTIONS, PLACE_OPTIONS, RUN_OPTIONS, SERVICE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { heldCommands } from "../output/describe-status.ts";
import { oneLine, type Terminal } from "../output/terminal.ts";
import { minute, whereText } from "../output/words.ts";

interface NotifierOptions {
  readonly values: NextCommandValues & OptionValues<"notifyUrl" | "notifyLink" | "notifyOn">;
  readonly terminal: Pick<Terminal, "message">;
  readonly proxies: Proxies;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly random: Random;
  /** For one attempt; default 10 s. */
  readonly timeoutMs?: number;
}

export class Notifier {
  readonly #options: NotifierOptions;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** @param publicationOf its number, ten digits; asked only where it is needed */
  async ended(result: RunResult, publicationOf: () => Promise<string | undefined>): Promise<void> {
    const { values } = this.#options;
    await this.#tell(async () => {
      const publication = result.row.outcome === "PUBLISHED" ? await publicationOf() : undefined;
      return runEvent(values.account, result, publication, (id) => heldCommands(id, values));
    });
  }

  /** The start failed before it was a run. */
  async notStarted(error: unknown): Promise<void> {
    await this.#tell(async () => failedStartEvent(this.#options.values.account, error));
  }

  async #tell(eventOf: () => Promise<RunEvent | undefined>): Promise<void> {
    const { values, terminal, signal } = this.#options;
    // A person who stops a run knows how it ended.
    if (values.notifyUrl === undefined || signal.aborted) return;
    const url = new URL(values.notifyUrl);
    let problem: string | undefined;
    try {
      const event = await eventOf();
      if (event === undefined || !values.notifyOn.includes(END_OF[event.detailType])) return;
      problem = await this.#post(url, event);
    } catch (error) {
      problem = problemOf(error);
    }
    terminal.message(
      problem === undefined
        ? `The notification is delivered to ${url.host}.`
        : `The notification is not delivered to ${url.host}: ${problem}. The run itself is not affected. Check --notify-url.`,
    );
  }

  async #post(url: URL, event: RunEvent): Promise<string | undefined> {
    const { values, proxies, clock, random, signal, timeoutMs = 10_000 } = this.#options;
    const { detailType, detail } = event;
    const more = { where: whereText(values), link: values.notifyLink };
    const text = notificationText(event, nextCommands(event, values), more);
    const transport = new UndiciTransport({ connections: 1, timeoutMs, proxy: proxyFor(url, proxies) });
    try {
      const body = JSON.stringify({ "detail-type": detailType, detail, text });
      return await postNotification(body, { url, transport, clock, random, signal });
    } finally {
      await transport.close();
    }
  }
}

const END_OF: Readonly<Record<RunEvent["detailType"], OptionValues<"notifyOn">["notifyOn"][number]>> = {
  "Snapshot Published": "published",
  "Snapshot Held": "held",
  "Run Failed": "failed",
};

/** An error that is not ours may name the URL. */
function problemOf(error: unknown): string {
  if (error instanceof SyncError) return `${error.code}: ${error.message}`;
  return `an unexpected error (${error instanceof Error ? error.name : typeof error})`;
}

/** Delivers one notification: three attempts, no redirect, and no word about the URL but its host. */
const ATTEMPTS = 3;
/** A longer `Retry-After` is not waited for: the run has ended, and its terminal or cron waits. */
const MAX_WAIT_MS = 30_000;

interface PostNotificationOptions {
  readonly url: URL;
  /** Its time-out is the time that one attempt may take. */
  readonly transport: Pick<Transport, "send">;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly random: Random;
  readonly signal: AbortSignal;
}

interface Failure {
  readonly problem: string;
  /** Before the next attempt; undefined: chosen here. */
  readonly waitMs?: number | undefined;
  readonly isFinal?: true;
}

/** Why the body was not delivered; undefined if it was. */
async function postNotification(body: string, options: PostNotificationOptions): Promise<string | undefined> {
  const { clock, random, signal } = options;
  try {
    for (let failures = 1; ; failures += 1) {
      const failure = await attempt(body, options);
      if (failure === undefined) return undefined;
      const { problem, isFinal, waitMs = retryDelayMs(failures, random) } = failure;
      const tried = failures === 1 ? "" : `, after ${failures} attempts`;
      if (isFinal || failures === ATTEMPTS || waitMs > MAX_WAIT_MS) return `${problem}${tried}`;
      await clock.sleep(waitMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return "the program was stopped";
  }
}

async function attempt(
  body: string,
  { url, transport, clock, signal }: PostNotificationOptions,
): Promise<Failure | undefined> {
  try {
    const response = await transport.send(request(url, body), signal);
    return failureOf(response, url, clock.now());
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    const through = error.proxy === undefined ? "" : ` through the proxy ${error.proxy}`;
    return { problem: `there was no answer${through} (${error.reason})` };
  }
}

function request(url: URL, body: string) {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", "user-agent": `brand-events-sync/${VERSION}` },
    body,
    bodyCapBytes: 65_536,
    // The status says all; what the server adds is not read.
    sink: { add: () => false },
  } as const;
}

function failureOf(response: HttpResponse, url: URL, nowMs: number): Failure | undefined {
  const { status, headers } = response;
  switch (statusClass(status)) {
    case "read":
      return undefined;
    case "retry":
      return { problem: `the answer was status ${status}`, waitMs: retryAfterMs(headers, nowMs) };
    case "redirect": {
      const host = URL.parse(headers.get("location")?.[0] ?? "", url.href)?.host || "nowhere";
      return {
        problem: `the answer was status ${status}, a redirect to ${host}, which is not followed`,
        isFinal: true,
      };
    }
    case "renew":
    case "refused":
      return { problem: `the answer was status ${status}`, isFinal: true };
  }
}

/** Messages of errors may list every wrong key of a file; chats cut long texts. */
const MAX_MESSAGE = 1_000;

interface More {
  /** The snapshots are, and who tells: the host, the settings file. */
  readonly where: string;
  /** For the person who reads it. */
  readonly link: string | undefined;
}

function notificationText(event: RunEvent, next: readonly NextCommand[], { where, link }: More): string {
  const about = `brand-events-sync, account ${event.detail["account"]}`;
  const commands = next.map(({ purpose, command }) => `${purpose}: ${code(command)}.`);
  const wait = event.detailType === "Snapshot Held" ? [`Or wait: ${event.detail["wait"]}`] : [];
  const more = link === undefined ? [] : [`More: ${link}`];
  const parts = [`${about}: ${what(event, next)}`, ...commands, ...wait, `Where: ${where}.`, ...more];
  return escaped(oneLine(parts.join(" ")));
}

function what({ detailType, detail }: RunEvent, next: readonly NextCommand[]): string {
  switch (detailType) {
    case "Snapshot Published":
      return `readers see a new snapshot, ${detail["snapshot_id"]}. Events: ${detail["events"]}; ${detail["added"]} added, ${detail["changed"]} changed, ${detail["removed"]} removed.`;
    case "Snapshot Held":
      return `the snapshot ${detail["snapshot_id"]} is held (${detail["reason"]}). ${sentence(detail["explanation"])}${wouldDo(detail)} ${readersKeep(detail["base_snapshot_id"])}; nothing is urgent.`;
    case "Run Failed": {
      const { error_code: errorCode, run_id: runId } = detail;
      const run = runId === null ? "a start" : `the run ${runId}`;
      const why = next.reduce(
        (words, { command }) => withoutCommand(words, command),
        sentence(detail["error_message"]),
      );
      return `${run} failed${errorCode === null ? "" : ` with ${errorCode}`}. Readers keep what they have. ${why}`;
    }
  }
}

function wouldDo({ added, changed, removed }: RunEvent["detail"]): string {
  if (added === null || added === undefined) return "";
  return ` Publishing it would add ${added}, change ${changed} and remove ${removed} events.`;
}

/** @param base what readers saw when the snapshot was held */
function readersKeep(base: unknown): string {
  if (typeof base !== "string") return "Readers keep what they have";
  return `Readers keep the snapshot of ${minute(runInstant(base) ?? Number.NaN)}`;
}

function sentence(text: unknown): string {
  const words = String(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
  if (words.length > MAX_MESSAGE) return `${words.slice(0, MAX_MESSAGE).toWellFormed()}…`;
  return /[.!?)]$/.test(words) || words === "" ? words : `${words}.`;
}

/** An error whose remedy is a command ends with it, and the text's own end names it too. */
function withoutCommand(words: string, command: string): string {
  const end = words.lastIndexOf(command);
  return end === -1 ? words : words.slice(0, words.lastIndexOf(". ", end) + 1);
}

/** As code, where nothing has a meaning but the mark itself. */
function code(command: string): string {
  return command.includes("`") ? command : `\`${command}\``;
}

/** The three characters that mean something in both: a text like `<!channel>` would call everybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A command that a person runs after a run, by how it ended. */
interface NextCommand {
  /** What the command is for: `To publish it anyway`. */
  readonly purpose: string;
  readonly command: string;
}

type NextCommandValues = OptionValues<
  Exclude<(typeof SERVICE_OPTIONS)[number], "json" | "logLevel"> | (typeof RUN_OPTIONS)[number]
>;

function nextCommands({ detailType, detail }: RunEvent, values: NextCommandValues): readonly NextCommand[] {
  switch (detailType) {
    case "Snapshot Published":
      return [
        {
          purpose: "To see what readers have",
          command: commandLineText(["status"], PLACE_OPTIONS, values),
        },
      ];
    case "Snapshot Held":
      return [
        { purpose: "To see what publishing it would change", command: String(detail["diff_command"]) },
        { purpose: "To publish it anyway", command: String(detail["accept_command"]) },
      ];
    case "Run Failed":
      return [afterFailure(detail["error_code"], detail["finished"] === false, values)];
  }
}

function afterFailure(code: unknown, isUnfinished: boolean, values: NextCommandValues): NextCommand {
  if (code === "AUTHORIZATION_EXPIRED") {
    return {
      purpose: "To authorize again",
      command: commandLineText(["authorize"], AUTHORIZE_OPTIONS, values),
    };
  }
  if (isUnfinished) {
    return {
      purpose: "To resume it",
      command: commandLineText(["run"], [...OF_THE_SERVICE, ...RUN_OPTIONS], values),
    };
  }
  return { purpose: "To find the cause", command: commandLineText(["check"], OF_THE_SERVICE, values) };
}

const OF_THE_SERVICE = SERVICE_OPTIONS.filter((name) => name !== "json" && name !== "logLevel");
