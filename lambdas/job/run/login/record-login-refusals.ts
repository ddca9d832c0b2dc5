// A service whose refused login is recorded in the warehouse, until it accepts one.

import { isRefusedLogin } from "../../errors/is-refused-login.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import { deleteRefusal, writeRefusal } from "./login-refusal.ts";

/** Nothing is recorded for credentials without versions (a file on a laptop): no schedule of ours uses them. */
export function recordLoginRefusals(
  service: CountingService,
  { store, clock, logger, requestId }: Pick<RunPorts, "store" | "clock" | "logger" | "requestId">,
  account: string,
): CountingService {
  const clear = once(async () => {
    if (service.credentialsVersion !== undefined) await deleteRefusal(store, account);
  });
  const record = once(async ({ code }: SyncError) => {
    const credentials_version = service.credentialsVersion;
    if (credentials_version === undefined) return;
    const refused_at = new Date(clock.now()).toISOString();
    await writeRefusal(store, account, { code, refused_at, credentials_version, request_id: requestId });
  });
  const warnOnFailure = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      logger.warn(`the result of the login could not be recorded: ${error.message}`, {
        error_code: error.code,
      });
    }
  };
  let isCleared = false;
  const recorded = async <T>(request: Promise<T>): Promise<T> => {
    try {
      const result = await request;
      if (!isCleared) await warnOnFailure(clear());
      isCleared = true;
      return result;
    } catch (error) {
      if (isRefusedLogin(error)) await warnOnFailure(record(error));
      throw error;
    }
  };
  return {
    logIn: (signal) => recorded(service.logIn(signal)),
    list: (signal) => recorded(service.list(signal)),
    detail: (requestAs, signal) => recorded(service.detail(requestAs, signal)),
    close: () => service.close(),
    get counts() {
      return service.counts;
    },
    get credentialsVersion() {
      return service.credentialsVersion;
    },
  };
}

/** The first call does the work for all, also for concurrent ones. */
function once<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  let done: Promise<void> | undefined;
  return (...args) => {
    done ??= work(...args);
    return done;
  };
}
