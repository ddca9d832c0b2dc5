// Every setting of an account, once; those that all accounts share are in settings-schema.ts. Options and variables of the
// command line, the keys of `cdk.json` and of a settings file, what the function is given, `brand-events.schema.json` and
// the tables of docs/settings.md come from these two tables.

import * as z from "zod";
import { parsePointer } from "../json/json-pointers.ts";
import {
  authUrl,
  baseUrl,
  isListed,
  limit,
  nextPage,
  notifyUrl,
  text,
  timeZone,
  trueOrFalse,
  wholeNumber,
} from "../settings/values.ts";
import { credentialsPlace, warehousePlace } from "./places.ts";
import { MAX_STALE_HOURS, parseSchedule } from "./schedule.ts";

export interface Setting {
  readonly schema: z.ZodType;
  /** The value where nothing is given. A setting without a default has none then. */
  readonly default?: unknown;
  /** Where it is used: by a run, wherever it is; by the stack in AWS; by the command line. */
  readonly where: "both" | "AWS" | "laptop";
  /** What takes it as an option: every command that sends requests to the service; a run; the notifications of a run. */
  readonly use?: "service" | "run" | "notify";
  /** The option, in the syntax of commander. Its variable has the same words. */
  readonly flag?: string;
  /** What the option's text is, unless it is the value: a number, words with commas, a JSON array of texts. */
  readonly as?: "number" | "words" | "texts" | "columns";
  /** In Markdown, for pages; terminals and editors show it without marks, and without what begins with "See". */
  readonly help: string;
}

const percent = number("a percentage", 0, 100);
const pointer = text(
  "expected a JSON Pointer such as /data/events",
  (value) => tokensOf(value) !== undefined,
);
/** Not the detail itself, which every event has. */
const requiredPointer = text(
  "expected a JSON Pointer to a part of the detail, such as /date",
  (value) => (tokensOf(value) ?? []).length > 0,
);
const ENDS = 'expected some of "published", "held" and "failed"';
/** The settings that an account may have; all but `schedule` may also stand at the top, as the default for all accounts. */
export const ACCOUNT_SETTINGS = {
  schedule: {
    schema: text(
      "expected cron(minutes hours day-of-month month day-of-week year) with ? for exactly one of the two days and * for the year, such as cron(0 6 * * ? *), or rate(12 hours)",
      (value) => parseSchedule(value) !== undefined,
    ),
    where: "AWS",
    help: "`cron(0 6 * * ? *)` (minutes, hours, day of month, month, day of week, year `*`; exactly one of the two days is `?`) or `rate(12 hours)`",
  },
  timeZone: {
    schema: timeZone,
    default: "UTC",
    where: "AWS",
    help: "Time zone of the schedule: `UTC`, `GMT`, or area and place, such as `Europe/London`",
  },
  enabled: {
    schema: trueOrFalse,
    default: true,
    where: "AWS",
    help: "`false` stops the schedule and its *stale* alarm; runs by hand still work",
  },
  baseUrl: {
    schema: baseUrl,
    where: "both",
    use: "service",
    flag: "--base-url <url>",
    help: "Address of the service, with `https:` (`http:` only to this computer); `/`, `/v1` or `/v1/events` at the end is ignored",
  },
  authUrl: {
    schema: authUrl,
    where: "both",
    use: "service",
    flag: "--auth-url <url>",
    help: "Address of the identity provider, for the method `oauth`, with `https:` (`http:` only to this computer); `/` or `/oauth/…` at the end is ignored",
  },
  requestsPerMinute: {
    schema: limit,
    default: 200,
    where: "both",
    use: "service",
    flag: "--requests-per-minute <n>",
    as: "number",
    help: "Requests that the service allows, logins and retries included, or `unlimited`. 90 % are used",
  },
  bytesPerMinute: {
    schema: limit,
    default: 10 * 1_048_576,
    where: "both",
    use: "service",
    flag: "--bytes-per-minute <n>",
    as: "number",
    help: "Bytes of response bodies, after decompression, that the service allows, or `unlimited`. 90 % are used",
  },
  limitWindowSeconds: {
    schema: wholeNumber(10, 3_600),
    default: 60,
    where: "both",
    use: "service",
    flag: "--limit-window <seconds>",
    as: "number",
    help: "Seconds over which the service averages its limits, 10 to 3,600. See [how a service counts](connect.md#how-does-the-service-count)",
  },
  concurrency: {
    schema: wholeNumber(1, 256),
    default: 16,
    where: "both",
    use: "service",
    flag: "--concurrency <n>",
    as: "number",
    help: "Requests at the same time, 1 to 256",
  },
  isListed: {
    schema: isListed,
    default: "true",
    where: "both",
    use: "service",
    flag: "--is-listed <filter>",
    help: "Which events to list: `true` (listed), `false` (not listed) or `any` (no filter); in a file with quotes",
  },
  listPointer: {
    schema: pointer,
    where: "both",
    use: "service",
    flag: "--list-pointer <pointer>",
    help: "JSON Pointer (RFC 6901) to the events in the response for the list, if the program does not find them",
  },
  nextPage: {
    schema: nextPage,
    where: "both",
    use: "service",
    flag: "--next-page <how>",
    help: "How pages of the list are asked for, if its links do not say it: `all` (it is one page, as you have seen), `links`, `none`, or a query such as `page={page}`. See [a list with pages](connect.md#how-are-pages-asked-for)",
  },
  detailPointer: {
    schema: pointer,
    where: "both",
    use: "service",
    flag: "--detail-pointer <pointer>",
    help: "JSON Pointer to the event in the response for one event, if the program does not find it",
  },
  maxDropPercent: {
    schema: percent,
    default: 20,
    where: "both",
    use: "run",
    flag: "--max-drop <percent>",
    as: "number",
    help: "Hold a snapshot that has over this many percent fewer events than readers see now",
  },
  maxGrowthPercent: {
    schema: number("a percentage", 0, 1e6),
    where: "both",
    use: "run",
    flag: "--max-growth <percent>",
    as: "number",
    help: "Hold a snapshot that has over this many percent more events than readers see now; without it any growth is published",
  },
  maxMissingPercent: {
    schema: percent,
    default: 1,
    where: "both",
    use: "run",
    flag: "--max-missing <percent>",
    as: "number",
    help: "Percent of the listed events that may have no details, or may be missing in one reading of [a list whose pages shift](connect.md#what-if-pages-shift); 5 missing events are always allowed",
  },
  require: {
    schema: z
      .array(
        requiredPointer,
        'expected the required fields as a list of JSON Pointers, such as ["/date", "/brand/name"]',
      )
      .readonly(),
    default: [],
    where: "both",
    use: "run",
    flag: "--require <pointer>",
    as: "texts",
    help: 'JSON Pointer to a field that details must have; repeatable. If it is absent or null in more events than may be missing, the snapshot is held. In a file and as a variable a list: `["/date", "/brand/name"]`. See [required fields](operate.md#which-fields-must-there-be)',
  },
  retainDays: {
    schema: wholeNumber(1, 36_500),
    where: "both",
    use: "run",
    flag: "--retain-days <days>",
    as: "number",
    help: "Delete published snapshots that are older than this many days; without it all are kept. See [retention](operate.md#how-long-are-snapshots-kept)",
  },
  resumeWithinMinutes: {
    schema: wholeNumber(0, 20_160),
    default: 60,
    where: "both",
    use: "run",
    flag: "--resume-within <minutes>",
    as: "number",
    help: "A start by hand resumes an unfinished run if its last progress is less than this many minutes old",
  },
  staleAfterHours: {
    schema: wholeNumber(1, MAX_STALE_HOURS),
    where: "AWS",
    help: "Hours without a publication that raise the *stale* alarm, 1 to 168. Without it the schedule's longest interval and 2 hours, at least 26; no alarm if that is more than 168",
  },
  leftOutAlarmAbove: {
    schema: wholeNumber(0, 1e9),
    default: 0,
    where: "AWS",
    help: "If more events are left out, the *left out* alarm is raised",
  },
  warehouse: {
    schema: warehousePlace,
    default: "./warehouse",
    where: "laptop",
    flag: "--warehouse <where>",
    help: "Directory that holds the snapshots, on a local disk, or `s3://bucket/prefix`",
  },
  credentials: {
    schema: credentialsPlace,
    default: "./credentials.json",
    where: "laptop",
    use: "service",
    flag: "--credentials <where>",
    help: "File with the account's credentials, `secretsmanager:` and the name or ARN of a secret, or `-` for [standard input](connect.md#how-do-i-keep-the-secret-out-of-files)",
  },
  tokens: {
    schema: credentialsPlace,
    where: "laptop",
    use: "service",
    flag: "--tokens <where>",
    help: "Where the tokens of the method `oauth` are: a file, or `secretsmanager:` and the name or ARN of a secret. Without it beside the credentials file: `uk.tokens.json` for `uk.json`. Required if the credentials are in a secret. See [tokens](connect.md#where-are-the-tokens)",
  },
  notifyUrl: {
    schema: notifyUrl,
    where: "laptop",
    use: "notify",
    flag: "--notify-url <url>",
    help: "Address to which a run posts that it is held or has failed, for Slack, Teams or a program, with `https:` (`http:` only to this computer). It is a secret, so give it as a variable. See [telling people](operate.md#who-is-told)",
  },
  notifyLink: {
    schema: text(
      "expected a link with https: or http:",
      (value) => /^https?:\/\/\S+$/i.test(value) && URL.canParse(value),
    ),
    where: "laptop",
    use: "notify",
    flag: "--notify-link <url>",
    help: "A link that each notification has for the person who reads it, such as your own runbook or a report",
  },
  notifyOn: {
    schema: z
      .array(z.enum(["published", "held", "failed"], ENDS), ENDS)
      .min(1, ENDS)
      .readonly(),
    default: ["held", "failed"],
    where: "laptop",
    use: "notify",
    flag: "--notify-on <ends>",
    as: "words",
    help: 'The ends of a run to post: `"published"`, `"held"`, `"failed"`; as an option without quotes, separated by commas',
  },
} as const satisfies Record<string, Setting>;

/** Markdown without marks, links, and what begins with "See". */
export function plainText(markdown: string): string {
  return markdown
    .replaceAll(/[.;]? See \[[^\]]*\]\([^)]*\)\.?/g, "")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/\*([a-z][a-z ]*)\*/g, "$1")
    .replaceAll("`", "");
}

/** `expected a percentage from 0 to 100`. */
function number(what: string, least: number, most: number): z.ZodNumber {
  const error = `expected ${what} from ${least} to ${most}`;
  return z.number(error).min(least, error).max(most, error);
}

function tokensOf(value: string): readonly string[] | undefined {
  try {
    return parsePointer(value);
  } catch {
    return undefined;
  }
}
