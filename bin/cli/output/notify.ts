// Tells a chat or a program how a run ended. Whatever happens here changes neither the outcome nor the exit code.

import { hostname } from "node:os";
import type { Advice } from "../../../lambdas/job/errors/advice.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { type Proxies, proxyFor } from "../../../lambdas/job/network/proxies.ts";
import { readersSee } from "../../../lambdas/job/run/record/held-mark.ts";
import type { RunEvent } from "../../../lambdas/job/run/record/run-event.ts";
import type { Clock, Random } from "../../../lambdas/job/runtime/clock.ts";
import { USER_AGENT } from "../../../lambdas/job/runtime/version.ts";
import { type HttpResponse, NoResponse } from "../../../lambdas/job/service/http/transport.ts";
import { UndiciTransport } from "../../../lambdas/job/service/http/undici-transport.ts";
import { retryAfterMs, retryDelayMs, statusClass } from "../../../lambdas/job/service/requests/retry.ts";
import { afterFailure, names } from "../../../lambdas/words/ends.ts";
import { ANY_SHELL, say, sayError } from "../../../lambdas/words/style.ts";
import { type NOTIFY_OPTIONS, type OptionValues, PLACE_OPTIONS } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { sentence, styleHere } from "./next-command.ts";
import { oneLine, type Terminal } from "./terminal.ts";
import { changeCounts, whereText } from "./words.ts";

type Values = Parameters<typeof styleHere>[0] & Partial<OptionValues<(typeof NOTIFY_OPTIONS)[number]>>;

interface NotifyOptions {
  readonly values: Values;
  readonly stderr: Pick<Terminal, "message">;
  readonly proxies: Proxies;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly random: Random;
  /** The time for one attempt; default 10 s. */
  readonly timeoutMs?: number;
}

interface End {
  readonly event: RunEvent | undefined;
  /** What a person does about it. */
  readonly next: Advice;
}

/** @param endOf asked only where there is somebody to tell */
export async function notify(endOf: () => Promise<End>, options: NotifyOptions): Promise<void> {
  const { values, stderr, signal } = options;
  // A person who stops a run knows how it ended.
  if (values.notifyUrl === undefined || signal.aborted) return;
  const url = new URL(values.notifyUrl);
  let problem: string | undefined;
  try {
    const { event, next } = await endOf();
    // Where it is wrong which ends are told, each is.
    if (event === undefined || values.notifyOn?.includes(END_OF[event.detailType]) === false) return;
    const { detailType, detail } = event;
    const body = {
      "detail-type": detailType,
      detail,
      text: notificationText(event, next, values, options.clock.now()),
    };
    problem = await deliver(JSON.stringify(body), url, options);
  } catch (error) {
    problem = problemOf(error);
  }
  stderr.message(
    problem === undefined
      ? `The notification is delivered to ${url.host}.`
      : `The notification is not delivered to ${url.host}: ${problem}. The run itself is not affected. Check --notify-url.`,
  );
}

const END_OF: Readonly<Record<RunEvent["detailType"], NonNullable<Values["notifyOn"]>[number]>> = {
  "Snapshot Published": "published",
  "Snapshot Held": "held",
  "Run Failed": "failed",
};

/** An error that is not ours may name the URL. */
function problemOf(error: unknown): string {
  if (error instanceof SyncError) return `${error.code}: ${sayError(error, ANY_SHELL)}`;
  return `an unexpected error (${error instanceof Error ? error.name : typeof error})`;
}

const ATTEMPTS = 3;
/** A longer `Retry-After` is not waited for: the run has ended, and its terminal or cron waits. */
const MAX_WAIT_MS = 30_000;

interface Failure {
  readonly problem: string;
  /** Before the next attempt; undefined: chosen here; infinite: no other attempt would help. */
  readonly waitMs?: number | undefined;
}

/** Why the body was not delivered; undefined if it was. No redirect is followed, and no more of the URL named than its host. */
async function deliver(body: string, url: URL, options: NotifyOptions): Promise<string | undefined> {
  const { proxies, clock, random, signal, timeoutMs = 10_000 } = options;
  const transport = new UndiciTransport({ connections: 1, timeoutMs, proxy: proxyFor(url, proxies) });
  const request = {
    method: "POST",
    url,
    headers: { "content-type": "application/json", "user-agent": USER_AGENT },
    body,
    bodyCapBytes: 65_536,
  } as const;
  try {
    for (let attempts = 1; ; attempts += 1) {
      const failure = await transport
        .send(request, signal)
        .then((response) => failureOf(response, url, clock.now()), withoutAnswer);
      if (failure === undefined) return undefined;
      const { problem, waitMs = retryDelayMs(attempts, random) } = failure;
      const tried = attempts === 1 ? "" : `, after ${attempts} attempts`;
      if (attempts === ATTEMPTS || waitMs > MAX_WAIT_MS) return `${problem}${tried}`;
      await clock.sleep(waitMs, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return "the program was stopped";
  } finally {
    await transport.close();
  }
}

function withoutAnswer(error: unknown): Failure {
  if (!(error instanceof NoResponse)) throw error;
  if (error.isAnswer && error.proxy === undefined) return { problem: `the answer was ${error.message}` };
  const through = error.proxy === undefined ? "" : ` through the proxy ${error.proxy}`;
  return { problem: `there was no answer${through} (${error.reason})` };
}

function failureOf({ status, headers }: HttpResponse, url: URL, nowMs: number): Failure | undefined {
  const problem = `the answer was status ${status}`;
  switch (statusClass(status)) {
    case "read":
      return undefined;
    case "retry":
      return { problem, waitMs: retryAfterMs(headers, nowMs) };
    case "redirect": {
      const host = URL.parse(headers.get("location")?.[0] ?? "", url.href)?.host || "nowhere";
      return { problem: `${problem}, a redirect to ${host}, which is not followed`, waitMs: Infinity };
    }
    case "renew":
    case "refused":
      return { problem, waitMs: Infinity };
  }
}

export function notificationText(event: RunEvent, next: Advice, values: Values, nowMs: number): string {
  const { account } = event.detail;
  const parts = [
    `brand-events-sync${account === null ? "" : `, account ${account}`}: ${inWords(event, next, values, nowMs)}`,
    // The commands of a held snapshot name its place.
    event.detailType === "Snapshot Held" ? `Host: ${hostname()}.` : `Where: ${whereText(values)}.`,
    ...(values.notifyLink === undefined ? [] : [`More: ${values.notifyLink}`]),
  ];
  return escaped(oneLine(parts.join(" ")));
}

function inWords({ detailType, detail }: RunEvent, next: Advice, values: Values, nowMs: number): string {
  const why = [detail["explanation"], detail["error_message"]].map(sentence);
  const advised = [...why, say(next, styleHere(values))].filter(Boolean).join(" ");
  switch (detailType) {
    case "Snapshot Published": {
      const status = commandLineText(["status"], PLACE_OPTIONS, values);
      return `readers see a new snapshot, ${detail["snapshot_id"]}. Events: ${detail["events"]}; ${detail["added"]} added, ${detail["changed"]} changed, ${detail["removed"]} removed.${advised === "" ? "" : ` ${advised}`} To see what readers have: ${code(status)}.`;
    }
    case "Snapshot Held":
      return `held (${detail["reason"]}). ${advised} ${readersSee(detail, nowMs)} Compare: ${code(String(detail["diff_command"]))}. Publish${wouldDo(detail)}: ${code(String(detail["accept_command"]))}. Or wait: ${detail["wait"]}`;
    case "Run Failed": {
      const { error_code: errorCode, run_id: runId, finished } = detail;
      const step = afterFailure(errorCode, finished === false);
      const run = runId === null ? "a start" : `the run ${runId}`;
      const named = errorCode === null ? "" : ` with ${errorCode}`;
      const [purpose, command] = styleHere(values).step(step);
      const then = names(next, step) ? "" : ` ${purpose}: ${code(command)}.`;
      return `${run} failed${named}. Readers keep what they have. ${advised}${then}`;
    }
  }
}

/** ` (5 added, 8 changed, 412 removed)`. */
function wouldDo({ added, changed, removed }: RunEvent["detail"]): string {
  if (added === null || added === undefined) return "";
  return ` (${changeCounts({ added: Number(added), changed: Number(changed), removed: Number(removed) })})`;
}

/** The command as code, where nothing has a meaning but the mark itself. */
function code(command: string): string {
  return command.includes("`") ? command : `\`${command}\``;
}

/** The three characters that mean something in both: a text like `<!channel>` would call everybody. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
