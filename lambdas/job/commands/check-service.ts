// Tries the service, as `check` does: the login, the list, some details. Where the list is not whole, or may not be, or
// something is not found, other settings are tried too.

import { type Advice, advise, setting } from "../errors/advice.ts";
import { SyncError } from "../errors/sync-error.ts";
import {
  noneReadable,
  readListOnce,
  readOne,
  sayUnread,
  spread,
  type Warn,
} from "../run/collect/read-list.ts";
import type { OpenService } from "../run/open-account.ts";
import type { Skipped } from "../run/record/run-result.ts";
import { countText } from "../run/record/texts.ts";
import type { HostPorts } from "../run/run-ports.ts";
import type { EventList, EventService, ListDoubt, ListedEvent, ListTrial } from "../service/event-service.ts";
import { RUN_CHECK } from "../service/events/list/list-errors.ts";
import type { RateLimiter } from "../service/rate-limit/rate-limiter.ts";

const CHECKS = ["credentials", "lease", "login", "list", "detail", "store", "catalog", "snapshot"] as const;

export interface Check {
  readonly name: (typeof CHECKS)[number];
  readonly ok: boolean;
  readonly code: SyncError["code"] | Skipped["reason"] | null;
  /** What is wrong, and what to do. A check that is ok has a warning here, or null. */
  readonly remedy: Advice | null;
}

export type RunCheck = <T>(name: Check["name"], work: (warn: Warn) => Promise<T>) => Promise<T | undefined>;

/** How many details are tried, of the whole list. */
const MOST_TRIED = 20;
/** The tried events take one part in so many of what the budget has now. */
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
  warn: Warn,
): Promise<void> {
  const details = await Promise.all(tried.map((event) => readOne(service, event, ports.signal)));
  const read = tried.find((_, index) => details[index]?.kind === "event");
  await sayUnread(service, details, read, ports.signal, warn);
  const leftOut = (reason: "gone" | "forbidden"): number =>
    details.filter((one) => one.kind === "left-out" && one.reason === reason).length;
  if (read === undefined) throw noneReadable(tried.length, leftOut("gone"));
  const refused = leftOut("forbidden");
  if (refused > 0)
    warn(`The service refuses the details of ${refused} of ${tried.length} events that were tried (403).`, [
      "If the account may not see them, a first snapshot may be held as MISSING or FEW_ROWS: accept it, and later ones with the same share are published.",
    ]);
}

/** Errors have a value that was tried in the field of this name. */
const ADVISED = ["nextPage", "listPointer", "detailPointer"] as const;

/** A setting of the account, and a value that works. */
export interface FoundSetting {
  readonly setting: (typeof ADVISED)[number];
  readonly value: string;
}

export interface ListAdvice {
  /** Called where the list may be a part only, with what was tried. */
  readonly onDoubt?: (doubt: ListDoubt, trial: ListTrial | undefined) => void;
  /** Called with a setting that works where the one that holds does not: it was tried. */
  readonly onAdvice?: (found: FoundSetting) => void;
}

/** Reads the list once. @param advice undefined: nothing is tried */
async function tryList(
  service: EventService,
  signal: AbortSignal,
  warn: Warn,
  advice: ListAdvice | undefined,
): Promise<EventList> {
  let trial: ListTrial | undefined;
  const onTrial = (found: ListTrial): void => {
    trial = found;
  };
  try {
    const list = await readListOnce(service, signal, warn, advice && onTrial);
    if (list.doubt) advice?.onDoubt?.(list.doubt, trial);
    else if (trial) warn("", trialAdvice(trial));
    if (trial?.fits !== undefined) advice?.onAdvice?.({ setting: "nextPage", value: trial.fits });
    return list;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    const fits = trial?.fits;
    throw withoutCheck(error).with({
      next: trial && trialAdvice(trial),
      ...(fits !== undefined && { fields: { nextPage: fits } }),
    });
  }
}

/** Not the advice to do what is done. */
function withoutCheck({ code, message, fields, cause, next }: SyncError): SyncError {
  const isAdvised = RUN_CHECK.every((part) => next.includes(part));
  return new SyncError(code, message, {
    ...{ fields, cause },
    next: isAdvised ? next.slice(RUN_CHECK.length + 1) : next,
  });
}

/** What an error names that was tried. */
export function adviseAfter({ fields }: SyncError, { onAdvice }: ListAdvice): void {
  for (const setting of ADVISED) {
    const value = fields[setting];
    if (typeof value === "string") onAdvice?.({ setting, value });
  }
}

/** What trying has shown. */
export function trialAdvice({ fits, brought, tried }: ListTrial): Advice {
  if (fits !== undefined)
    return advise`Tried: with ${fits} came ${countText(brought)} ${brought === 1 ? "event that was" : "events that were"} not there. Set ${setting("nextPage", fits)}.`;
  return tried.length === 0 ? [] : [`Tried, without other events: ${tried.join(", ")}.`];
}
