import { describe, expect, it } from "vitest";
import { formatTable } from "../../bin/cli/output/table.ts";
import { oneLine } from "../../bin/cli/output/terminal.ts";
import { awsError } from "../../lambdas/job/errors/aws-error.ts";
import { redactKey } from "../../lambdas/job/errors/shown-text.ts";
import { parsePointer } from "../../lambdas/job/json/json-pointers.ts";
import { isOver } from "../../lambdas/job/service/auth/oauth/is-over.ts";
import { SessionCookies } from "../../lambdas/job/service/auth/session-cookies.ts";
import { nextLink } from "../../lambdas/job/service/events/list/next-link.ts";
import { pageHints } from "../../lambdas/job/service/events/list/page-hints.ts";
import { isUuid, shownNames } from "../../lambdas/job/service/events/shape.ts";
import { redirected } from "../../lambdas/job/service/requests/failure.ts";
import { askedWaitMs, retryAfterMs } from "../../lambdas/job/service/requests/retry.ts";
import { baseUrl } from "../../lambdas/job/settings/values.ts";
import { fitsType } from "../../lambdas/job/snapshot/rows/lifted-column.ts";
import { suggestColumns } from "../../lambdas/job/snapshot/rows/suggest-columns.ts";
import { isOfLayout } from "../../lambdas/job/storage/layout.ts";
import { parseS3Location } from "../../lambdas/job/storage/s3/s3-location.ts";
import { within } from "./bounded.ts";

/** undici takes no more than 16 KB of headers; what is read in linear time is read as fast where it is 64 KB. */
const LENGTH = 65_536;
/** Milliseconds each; much less on a machine with nothing else to do. Quadratic time takes minutes. */
const MAX_MS = 5_000;
const times = (piece: string): string => piece.repeat(Math.ceil(LENGTH / piece.length));
const outcomeOf = (work: () => unknown): void => {
  try {
    work();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT")
      throw error;
  }
};

const PAGE = new URL("https://api.example.com/v1/events");
const headers = (name: string, value: string) => new Map([[name, [value]]]);

/** What is read of members beside a list, and of headers. */
const hintsOf = (members: object, header = ""): unknown =>
  pageHints(
    { beside: JSON.stringify({ data: [], ...members }), path: ["data"] },
    { status: 200, headers: new Map([...headers("x-total", header), ...headers("content-range", header)]) },
    { entries: 0, page: PAGE, first: PAGE },
    (name) => name,
  );

const TYPES = ["BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DECIMAL(38,2)"] as const;

const readers: readonly (readonly [string, (text: string) => unknown, readonly string[]])[] = [
  [
    "a key of a warehouse",
    isOfLayout,
    [
      `snapshots/${times("a")}`,
      `snapshots/uk/${times("a")}/part-`,
      `runs/uk/${times("a-")}/rows-${times("0")}`,
      times("runs/"),
    ],
  ],
  ["a text for a terminal", oneLine, [times("\u200d"), times("👩\u200d"), times("\u001b[")]],
  [
    "a refusal of a token",
    (text) => isOver(400, { error: text, errors: [{ field: text, code: "invalid" }] }, true),
    [times("token"), times("refresh"), times("a "), times("/"), times("invalid")],
  ],
  [
    "a Link header",
    (text) => nextLink([], headers("link", text), PAGE, PAGE),
    [
      `</x>${"; a= ".repeat(35)}"`, // 180 characters
      `</x>${times("; a= ")}"`,
      `</x>${times('; a="')}`,
      `</x>${times(";")}"`,
      `</x>; rel="${times("next ")}`,
      `</x>; rel=${times(" ")}!`,
      `</x>; rel="${times("\\")}`,
      times("<"),
      times(","),
      times("</x>, "),
      times("</x>; rel=next, "),
      `${times(" ")}next`,
    ],
  ],
  [
    "a Retry-After",
    (text) => retryAfterMs(headers("retry-after", text), 0),
    [`${times("1")}s`, `S${times("a")}!`, times(" "), `${times(" ")}!`, times("Sun, "), times("Sun Nov 06 ")],
  ],
  [
    "a RateLimit",
    (text) => askedWaitMs({ status: 429, headers: headers("ratelimit", text) }, 0, 60_000),
    [times(","), times(";"), times("="), times("t=1,"), times("r=0;t=1;"), times(" "), times('"')],
  ],
  [
    "a Location",
    (text) =>
      redirected("GET /", PAGE, {
        status: 302,
        headers: headers("location", text),
        body: { kind: "unread" },
        decodedBytes: 0,
      }),
    [times(";"), times("/"), times("../"), `https://${times("a.")}`, `https://${times("%41")}`, times("\\")],
  ],
  [
    "a Set-Cookie",
    (text) => new SessionCookies(PAGE, { now: () => 0, monotonicMs: () => 0 }).keep([text]),
    [
      times(";"),
      times("="),
      times(" "),
      times("a="),
      `s=1; Expires=${times("1 ")}`,
      `s=1; Expires=${times("1:")}`,
      `s=1; Expires=${times("Jan")}`,
      `s=1; Domain=${times(".")}`,
      `s=1; Domain=${times("a.")}`,
      `s=1; Domain=[${times("0:")}`,
      `s=1; Path=${times("/")}`,
      `s=1; Max-Age=${times("9")}x`,
      `s=1${times("; x=")}`,
    ],
  ],
  ["a uuid", isUuid, [times("a"), `aaaaaaaa${times("-aaaa")}`]],
  ["a key of JSON", redactKey, [`${times("a")}!`, `${times("$-")}!`]],
  ["a name in a shape", shownNames(() => []), [times("a@"), times("@."), `${times("a")}!`]],
  [
    "a member beside a list",
    (text) => hintsOf({ total: text, next: text, continue: text }),
    [`${times("9")}x`, times("1-"), times("1:"), times(" "), `?${times("a=")}`],
  ],
  [
    "the name of a member beside a list",
    (text) => hintsOf({ [text]: 58 }),
    [times("next"), times(":"), times("@."), times("."), `${times("Total")}!`, times("1")],
  ],
  [
    "a header beside a list",
    (text) => hintsOf({}, text),
    [`${times("9")}x`, times("{"), `items ${times("1")}-`, `${times("-1")}/`],
  ],
  [
    "an error of AWS",
    (text) => awsError(Object.assign(new Error(text), { $metadata: {} })),
    [times(" "), times(" a"), times("\n")],
  ],
  [
    "a field's name",
    (text) => suggestColumns([{ pointer: `/${text}`, count: 1, types: { string: 1 } }], 1),
    [times("_"), times("aB"), times("AB"), `${times("_")}!`, times("é"), times("a\u0301")],
  ],
  [
    "the text of a cell",
    (text) => formatTable({ columns: ["x"], rows: [[text]] }, { maxWidth: LENGTH }),
    [times("\u0301"), times("\u200d"), times("👍"), `${times("a")}\n`],
  ],
  [
    "--base-url",
    (text) => baseUrl.safeParse(text),
    [`https://x.test${times("/")}x`, `https://x.test${times("/v1")}`, `https://${times("127.")}`, times("/")],
  ],
  [
    "--warehouse",
    parseS3Location,
    [`s3://${times("a")}/\n`, `s3://${times("/")}x`, `s3://${times("a/")}\n`, `s3://b/${times("/")}x`],
  ],
  [
    "a text that may be a value",
    (text) => TYPES.map((type) => fitsType(text, type)),
    [`${times("0")}x`, `${times("0")}.${times("0")}x`, `2026-01-01T00:00:00.${times("0")}x`],
  ],
  ["a pointer", parsePointer, [`/${times("~")}`, times("/"), `/${times("~0")}~`]],
];

describe("text from outside", () => {
  it.each(readers)("such as %s is read in linear time", (_, read, texts) => {
    for (const text of texts) {
      expect(() => within(MAX_MS, () => outcomeOf(() => read(text))), text.slice(0, 40)).not.toThrow();
    }
  });
});
