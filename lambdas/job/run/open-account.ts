// Opens the service for an account.

import * as z from "zod";
import { type Credentials, CredentialsNotSetUp } from "../credentials/credentials.ts";
import type { TokenStore } from "../credentials/tokens/token-store.ts";
import { advise, command, setting } from "../errors/advice.ts";
import { ERROR_CODES, isRefusedLogin, SyncError, undefinedIfDamaged } from "../errors/sync-error.ts";
import type { OAuthOptions } from "../service/auth/oauth/by-tokens.ts";
import type { EventService } from "../service/event-service.ts";
import { createEventService, type EventServiceOptions } from "../service/http-event-service.ts";
import { RateLimiter } from "../service/rate-limit/rate-limiter.ts";
import { readManifest } from "../snapshot/files/manifest.ts";
import { readHead } from "../storage/publication-log.ts";
import { type AccountStore, jsonBytes, readJson, swap } from "../storage/store.ts";
import type { LeasedCommand } from "./lease/lease.ts";
import { whileLeased } from "./lease/lease-account.ts";
import type { Trigger } from "./record/run-log.ts";
import { orWarn, type Skipped, StartSkipped } from "./record/run-result.ts";
import type { HostPorts, RunPorts, WarehousePorts, WorldPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";

/** Sends nothing. Throws `CREDENTIALS_INVALID`, and `StartSkipped` to a schedule or a retry. */
export async function openAccount(
  ports: RunPorts,
  rateLimiter: RateLimiter,
  trigger: Trigger,
): Promise<EventService> {
  const service = await ports.openService(rateLimiter, (baseUrl) => isOfHead(ports.store, baseUrl));
  try {
    const isSchedule = trigger === "schedule" || ports.isUnattended === true;
    if (isSchedule || ports.requestId !== undefined) {
      await withholdRefused(ports, isSchedule, service.credentialsVersion);
    }
  } catch (error) {
    await service.close();
    throw error;
  }
  return recordLoginRefusals(service, ports);
}

/** Sends nothing yet. Throws `CREDENTIALS_INVALID`. */
export type OpenService = () => Promise<EventService>;

/** Takes the lease for a command that uses the service. */
export function withLease<T>(
  ports: RunPorts,
  settings: RunSettings,
  command: LeasedCommand,
  work: (open: OpenService, ports: RunPorts, budget: RateLimiter) => Promise<T>,
): Promise<T | Skipped> {
  return whileLeased(ports, command, settings, (lease, leased) => {
    const budget = new RateLimiter({ ...settings, clock: leased.clock, carrier: lease });
    return work(() => openAccount(leased, budget, "manual"), leased, budget);
  });
}

/** Whether what readers see came from this address. What cannot be read says nothing. */
async function isOfHead(store: AccountStore, baseUrl: string): Promise<boolean> {
  try {
    const head = await readHead(store);
    return head !== undefined && (await readManifest(store, head.snapshot_id)).settings.base_url === baseUrl;
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return false;
  }
}

async function withholdRefused(
  { store, clock, requestId }: WorldPorts & WarehousePorts & HostPorts,
  isSchedule: boolean,
  version: string | undefined,
): Promise<void> {
  // A damaged file costs one login at most.
  const refusal = await readJson(store, store.keys.loginRefused, refusalSchema).catch(undefinedIfDamaged);
  if (refusal === undefined) return;
  const { code, refused_at, credentials_version, request_id } = refusal;
  const refusedAtMs = Date.parse(refused_at);
  // An instant in the future was written by a wrong clock, and must not withhold the login until then.
  const isRecent = Math.abs(clock.now() - refusedAtMs) < IN_FORCE_MS;
  if (!isRecent || credentials_version !== version) return;
  if (!isSchedule && request_id !== requestId) return;
  const until = new Date(refusedAtMs + IN_FORCE_MS).toISOString();
  const remedy =
    code === "AUTHORIZATION_EXPIRED"
      ? advise`Authorize again: ${command("authorize")}. Or`
      : advise`Correct the credentials, or`;
  throw new StartSkipped(
    "LOGIN_REFUSED",
    `The service refused the login of this account at ${refused_at} (${code}), and the credentials have not changed since. So that the account is not locked, scheduled runs send no login before ${until}.`,
    advise`${remedy} start a check or a run by hand: once the service accepts a login, the schedule works again.`,
  );
}

/** Nothing is recorded for credentials without versions: those from standard input. */
function recordLoginRefusals(
  service: EventService,
  { store, clock, logger, requestId }: WorldPorts & WarehousePorts & HostPorts,
): EventService {
  const key = store.keys.loginRefused;
  // Reads first: in a bucket with versions every deletion leaves a delete marker, also that of a missing key.
  const clear = async (): Promise<void> => {
    if (service.credentialsVersion === undefined) return;
    if ((await store.read(key)) !== undefined) await store.delete([key]);
  };
  // Replaces the refusal before it, unless another process writes at the same time.
  const record = async ({ code }: SyncError): Promise<void> => {
    const credentials_version = service.credentialsVersion;
    if (credentials_version === undefined) return;
    const refused_at = new Date(clock.now()).toISOString();
    const refusal: LoginRefusal = { code, refused_at, credentials_version, request_id: requestId };
    await swap(store, key, jsonBytes(refusal), (await store.read(key))?.version);
  };
  const orWarned = (work: Promise<void>): Promise<void> =>
    orWarn(logger, "the result of the login could not be recorded", work);
  // The first request does it for all, also for concurrent ones.
  let cleared: Promise<void> | undefined;
  let refused: Promise<void> | undefined;
  const recorded = async <T>(request: Promise<T>): Promise<T> => {
    try {
      const result = await request;
      cleared ??= orWarned(clear());
      await cleared;
      return result;
    } catch (error) {
      if (isRefusedLogin(error)) {
        refused ??= orWarned(record(error));
        await refused;
      }
      throw error;
    }
  };
  return {
    logIn: (signal) => recorded(service.logIn(signal)),
    list: (signal, onTrial) => recorded(service.list(signal, onTrial)),
    detail: (requestAs, signal, question) => recorded(service.detail(requestAs, signal, question)),
    close: () => service.close(),
    get counts() {
      return service.counts;
    },
    get clockWarning() {
      return service.clockWarning;
    },
    get credentialsVersion() {
      return service.credentialsVersion;
    },
  };
}

/** After so long a schedule tries again: an account may be enabled without a new password. */
const IN_FORCE_MS = 24 * 60 * 60_000;

const refusalSchema = z.object({
  code: z.enum(ERROR_CODES),
  refused_at: z.iso.datetime(),
  /** The id of the secret's version; a new value has another id. */
  credentials_version: z.string(),
  /** The id of the request that started the run which sent the login, where there was one. */
  request_id: z.string().optional(),
});
type LoginRefusal = Readonly<z.infer<typeof refusalSchema>>;

interface ServicePorts
  extends Pick<
    EventServiceOptions,
    | "clock"
    | "random"
    | "logger"
    | "onWait"
    | "keepTryingUntilMs"
    | "isClockRight"
    | "proxies"
    | "timeoutMs"
    | "timeLeftMs"
    | "transport"
  > {
  readonly credentials: Credentials;
  /** Where the tokens of the method `oauth` are. Throws `CONFIG_INVALID` where no place is set. */
  readonly tokens?: (() => Promise<TokenStore>) | undefined;
}

/** How a run with these settings opens the service. The credentials are read each time it does. */
export function serviceOpener(settings: RunSettings, ports: ServicePorts): RunPorts["openService"] {
  const { credentials, tokens, ...others } = ports;
  return async (rateLimiter, hasWorked) => {
    const read = await credentials.read();
    return createEventService({
      ...others,
      ...settings,
      rateLimiter,
      credentials: read,
      stored: credentials,
      hasWorked: hasWorked && (() => hasWorked(settings.baseUrl)),
      oauth: read.method === "oauth" ? await oauthOptions(settings, tokens) : undefined,
    });
  };
}

/** Throws `CONFIG_INVALID` for a missing setting, and `CredentialsNotSetUp` for a secret that never had tokens. */
async function oauthOptions({ authUrl }: RunSettings, open: ServicePorts["tokens"]): Promise<OAuthOptions> {
  if (authUrl === undefined || open === undefined)
    throw new SyncError("CONFIG_INVALID", "The method oauth needs the address of the identity provider.", {
      fields: { setting: "authUrl" },
      next: advise`Set ${setting("authUrl")}.`,
    });
  const tokens = await open();
  const { version: tokensVersion } = await tokens.read();
  if (tokensVersion === undefined && tokens.isCreatedEmpty) {
    throw new CredentialsNotSetUp(`There are no tokens in ${tokens.place} yet.`, {
      next: advise`Authorize once: ${command("authorize")}.`,
    });
  }
  return { authUrl, tokens, tokensVersion };
}
