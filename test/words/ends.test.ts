// Every code and every reason, at every place, in both styles: the texts that a person reads. They stand in `ends.golden`;
// a text that changes is read there as a person reads it at night.

import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { OptionName } from "../../bin/cli/options/options.ts";
import { OPTIONS } from "../../bin/cli/options/options.ts";
import { GivenOptions } from "../../bin/cli/options/read-options.ts";
import { describeTrouble } from "../../bin/cli/output/describe-status.ts";
import { styleOf } from "../../bin/cli/output/next-command.ts";
import { reportRun } from "../../bin/cli/output/run-report.ts";
import { Terminal } from "../../bin/cli/output/terminal.ts";
import { ERROR_CODES } from "../../lambdas/job/errors/sync-error.ts";
import { HOLD_REASONS } from "../../lambdas/job/run/record/held-mark.ts";
import type { RunResult } from "../../lambdas/job/run/record/run-result.ts";
import type { ListDoubt } from "../../lambdas/job/service/event-service.ts";
import { invocationError } from "../../lambdas/sync/handle-request.ts";
import { reportResult } from "../../lambdas/sync/report-result.ts";
import { responseOf } from "../../lambdas/sync/response.ts";
import { doubtInAws, styleInAws } from "../../lambdas/sync/style-in-aws.ts";
import type { Mail } from "../../lambdas/sync/telemetry.ts";
import { whyHeld } from "../../lambdas/words/hold.ts";
import { FAILED, HELD, SKIPPED } from "../sync/rows.ts";
import { ERRORS, HOLDS } from "./samples.ts";

const ACCOUNT = { baseUrl: "https://service.example", authUrl: "https://id.example" };
const FILE = {
  path: "/srv/brand-events.json",
  title: "brand-events.json",
  settings: { accounts: { uk: ACCOUNT } },
  accounts: ["uk"],
} as never;

const WITHOUT_FILE = new GivenOptions({ account: "uk", ...ACCOUNT }, {}, "/srv");
const WITH_FILE = new GivenOptions({}, {}, "/srv", FILE);
const ENVIRONMENT = {
  ...{ region: "eu-west-1", functionName: "Sync", workgroup: "BrandEventsSync", database: "brand_events" },
  accounts: {},
} as never;
const STYLE = styleInAws(ENVIRONMENT, "uk");
const NOW_MS = Date.parse("2026-11-21T08:00:00.000Z");
const CONTEXT = { logGroupName: "/g", logStreamName: "s" };

const RESULTS: readonly (readonly [string, RunResult])[] = [
  ...Object.entries(ERRORS).map(([name, error]): [string, RunResult] => [
    name,
    { row: { ...FAILED, requests: null, error_code: error.code, error_message: error.message }, error },
  ]),
  ...Object.entries(HOLDS).map(([name, hold]): [string, RunResult] => [
    name,
    {
      row: { ...HELD, requests: null, reason: hold.reason },
      ...{ explanation: whyHeld(hold), hold },
    },
  ]),
];

test("the golden file has each code of an error and each reason of a hold that a run gives", () => {
  const codes = new Set(RESULTS.flatMap(([, { error }]) => error?.code ?? []));
  const reasons = new Set(RESULTS.flatMap(([, { hold }]) => hold?.reason ?? []));

  expect([...codes].toSorted()).toEqual(ERROR_CODES.toSorted());
  expect([...reasons].toSorted()).toEqual(
    HOLD_REASONS.filter((reason) => reason !== "MARK_DAMAGED" && reason !== "OTHER").toSorted(),
  );
});

test("each end is told at each place as the golden file has it", async () => {
  const parts: string[] = [];
  for (const [name, result] of RESULTS) parts.push(await told(name, result));
  for (const reason of ["LEASE_TAKEN", "LEASE_LOST", "LOGIN_REFUSED", "OTHER_VERSION", "NOT_SET_UP"])
    parts.push(`## ${reason}\nstatus: ${describeTrouble({ ...SKIPPED, reason }, styleOf(WITH_FILE))}\n`);
  for (const why of ["unsaid", "limit", "empty", "failed", "overlap"] as const)
    parts.push(await doubted(why));

  await expect(parts.join("\n").replaceAll("npm run sync --", "brand-events-sync")).toMatchFileSnapshot(
    "ends.golden",
  );
});

async function told(name: string, result: RunResult): Promise<string> {
  const { row, error, explanation } = result;
  const style = styleOf(WITH_FILE);
  const inFunction = { environment: ENVIRONMENT, style: STYLE, context: CONTEXT };
  const facts = { account: "uk", publication: undefined, ...inFunction };
  const inAws = error
    ? invocationError(error, { account: "uk" }, ENVIRONMENT).message
    : JSON.stringify(responseOf(result, facts)).match(/"explanation":(".*?[^\\]")/)?.[1];
  const lines = [
    `## ${name}: ${row.error_code ?? row.reason}`,
    `stored: ${row.error_message ?? explanation}`,
    `shell: ${await reported(WITHOUT_FILE, result)}`,
    `shell with a file: ${await reported(WITH_FILE, result)}`,
    ...(row.outcome === "FAILED" ? [`status: ${describeTrouble(row, style, error?.next)}`] : []),
    `AWS: ${inAws}`,
    `mail: ${await mail(result)}`,
  ];
  return `${lines.join("\n")}\n`;
}

async function reported(given: GivenOptions, result: RunResult): Promise<string> {
  const stream = new PassThrough();
  const terminal = new Terminal(stream);
  const output = { stdout: terminal, stderr: terminal, result: () => undefined, style: styleOf(given) };
  reportRun(output, result, given.read(Object.keys(OPTIONS) as OptionName[]));
  stream.end();
  const lines = (await text(stream)).trimEnd().split("\n");
  return lines
    .filter((line) => !/^\S+ +run |^ +(?:1,000 events|7 of 1,007|look at|publish it|or wait)/.test(line))
    .join("\n");
}

/** What cannot be sent is a warning. */
function fails(message: string): never {
  throw new Error(message);
}

async function mail(result: RunResult): Promise<string> {
  let sent: Partial<Mail> = {};
  const ports = {
    ...{ environment: ENVIRONMENT, metrics: () => undefined, clock: { now: () => NOW_MS } },
    logger: { info: () => undefined, warn: fails, error: fails },
    sendEvent: async ({ detail }: { detail: { mail?: Mail } }) => {
      sent = detail.mail ?? {};
    },
  };
  await reportResult(result, {
    ports,
    host: { store: { account: "uk" } },
    settings: {},
    style: STYLE,
  } as never);
  const { section, line1: _, line2 } = sent;
  return section === undefined ? "none" : `${section}, ${line2}`;
}

async function doubted(why: ListDoubt["why"]): Promise<string> {
  const doubt = { why, entries: 40, places: ["/meta/count"] };
  const result: RunResult = {
    row: { ...FAILED, requests: null, outcome: "DRY_RUN", error_code: null },
    doubt,
  };
  return [
    `## doubt: ${why}`,
    await reported(WITHOUT_FILE, result),
    await reported(WITH_FILE, result),
    doubtInAws(doubt, { style: STYLE, settings: {} as never }).doubt,
    "",
  ].join("\n");
}
