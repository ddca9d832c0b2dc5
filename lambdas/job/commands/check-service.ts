// Tries the service, as `check` does: the login, the list, some details. Where the list is not whole, or may not be, or
// something is not found, other settings are tried too.

import { shellWord } from "../errors/shown-text.ts";
import { SyncError } from "../errors/sync-error.ts";
import { noneReadable, readListOnce, readOne, sayUnread, spread } from "../run/collect/read-list.ts";
import type { OpenService } from "../run/open-account.ts";
import { trialText } from "../run/record/list-doubt.ts";
import type { Skipped } from "../run/record/run-result.ts";
import type { HostPorts } from "../run/run-ports.ts";
import type { EventList, EventService, ListDoubt, ListedEvent, ListTrial } from "../service/event-service.ts";
import { RUN_CHECK } from "../service/events/list/list-errors.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";

const CHECKS = ["credentials", "lease", "login", "list", "detail", "store", "catalog", "snapshot"] as const;

export interface Check {
  readonly name: (typeof CHECKS)[number];
  readonly ok: boolean;
  readonly code: SyncError["code"] | Skipped["reason"] | null;
  /** What to do about a problem. A check that is ok has a warning here, or null. */
  readonly remedy: string | null;
}

export type RunCheck = <T>(
  name: Check["name"],
  work: (warn: (remedy: string) => unknown) => Promise<T>,
) => Promise<T | undefined>;

/** How many details are tried, of the whole list. */
const MOST_TRIED = 20;
/** They take one part in so many of what the budget has now. */
const SHARE = 4;
/** However little the budget has: one event may be gone or forbidden. */
const LEAST_TRIED = 3;

/** Returns how many events a run would request, if the service lists them. */
export async function tryService(
  ports: HostPorts,
  open: OpenService,
  budget: RateLimiter,
  runCheck: RunCheck,
  advice: ListAdvice | undefined,
): Promise<number | undefined> {
  const service = await runCheck("credentials", open);
  if (service === undefined) return undefined;
  try {
    const loggedIn = await runCheck("login", async () => {
      await service.logIn(ports.signal);
      return true;
    });
    const list = loggedIn
      ? await runCheck("list", (warn) => tryList(service, ports.signal, warn, advice))
      : undefined;
    let most = MOST_TRIED;
    while (most > LEAST_TRIED && budget.waitMs(most * SHARE) > 0) most -= 1;
    const tried = list ? spread(list.events, most) : [];
    if (tried.length > 0) await runCheck("detail", (warn) => tryDetails(ports, service, tried, warn));
    return list?.events.length;
  } finally {
    await service.close();
  }
}

async function tryDetails(
  ports: HostPorts,
  service: EventService,
  tried: readonly ListedEvent[],
  warn: (remedy: string) => void,
): Promise<void> {
  const details = await Promise.all(tried.map((event) => readOne(service, event, ports.signal)));
  const read = tried.find((_, index) => details[index]?.kind === "event");
  await sayUnread(service, details, read, ports.signal, warn);
  const leftOut = (reason: "gone" | "forbidden"): number =>
    details.filter((one) => one.kind === "left-out" && one.reason === reason).length;
  if (read === undefined) throw noneReadable(tried.length, leftOut("gone"));
  const refused = leftOut("forbidden");
  if (refused > 0)
    warn(
      `The service refuses the details of ${refused} of ${tried.length} events that were tried (403). If the account may not see them, a first snapshot may be held as MISSING or FEW_ROWS: accept it, and later ones with the same share are published.`,
    );
}

/** Errors have a value that was tried in the field of this name. */
const ADVISED = ["nextPage", "listPointer", "detailPointer"] as const;

/** A setting of the account, and its value. */
export interface Advice {
  readonly setting: (typeof ADVISED)[number];
  readonly value: string;
}

export interface ListAdvice {
  /** Called where the list may be a part only, with what was tried. */
  readonly onDoubt?: (doubt: ListDoubt, trial: ListTrial | undefined) => void;
  /** Called with a setting that works where the one that holds does not: it was tried. */
  readonly onAdvice?: (advice: Advice) => void;
}

/** Reads the list once. @param advice undefined: nothing is tried */
async function tryList(
  service: EventService,
  signal: AbortSignal,
  warn: (warning: string) => unknown,
  advice: ListAdvice | undefined,
): Promise<EventList> {
  let trial: ListTrial | undefined;
  const onTrial = (found: ListTrial): void => {
    trial = found;
  };
  try {
    const list = await readListOnce(service, signal, warn, advice && onTrial);
    if (list.doubt) advice?.onDoubt?.(list.doubt, trial);
    else if (trial) warn(told(trial));
    if (trial?.fits !== undefined) advice?.onAdvice?.({ setting: "nextPage", value: trial.fits });
    return list;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const { code, cause } = error;
    const message = error.message.replace(`${RUN_CHECK} `, "");
    const tried = trial === undefined ? "" : told(trial);
    const fields = trial?.fits === undefined ? error.fields : { ...error.fields, nextPage: trial.fits };
    throw new SyncError(code, `${message} ${tried}`.trim(), { fields, cause });
  }
}

/** What an error names that was tried. */
export function adviseAfter({ fields }: SyncError, { onAdvice }: ListAdvice): void {
  for (const setting of ADVISED) {
    const value = fields[setting];
    if (typeof value === "string") onAdvice?.({ setting, value });
  }
}

function told(trial: ListTrial): string {
  return trialText(
    trial,
    (value) => `--next-page ${shellWord(value)} (nextPage in a settings file or cdk.json)`,
  );
}
