// A service whose refused login is remembered in the warehouse, and forgotten once it accepts one.

import { isRefusedLogin } from "../../errors/is-refused-login.ts";
import { SyncError } from "../../errors/sync-error.ts";
import type { CountingService, RunPorts } from "../run-ports.ts";
import { deleteRefusal, writeRefusal } from "./login-refusal.ts";

/** Credentials without versions (a file on a laptop) are not remembered: no schedule of ours uses them. */
export function recordLoginRefusals(
  service: CountingService,
  { store, clock, logger }: Pick<RunPorts, "store" | "clock" | "logger">,
  account: string,
): CountingService {
  const forget = once(async () => {
    if (service.credentialsVersion !== undefined) await deleteRefusal(store, account);
  });
  const remember = once(async ({ code }: SyncError) => {
    const credentials_version = service.credentialsVersion;
    if (credentials_version === undefined) return;
    const refused_at = new Date(clock.now()).toISOString();
    await writeRefusal(store, account, { code, refused_at, credentials_version });
  });
  /** What the service said counts, whatever becomes of the note about it. */
  const noting = async (note: Promise<void>): Promise<void> => {
    try {
      await note;
    } catch (error) {
      if (!(error instanceof SyncError)) throw error;
      logger.warn(`the result of the login could not be noted: ${error.message}`, {
        error_code: error.code,
      });
    }
  };
  const noted = async <Answer>(asking: Promise<Answer>): Promise<Answer> => {
    try {
      const answer = await asking;
      await noting(forget());
      return answer;
    } catch (error) {
      if (isRefusedLogin(error)) await noting(remember(error));
      throw error;
    }
  };
  return {
    logIn: (signal) => noted(service.logIn(signal)),
    list: (signal) => noted(service.list(signal)),
    detail: (requestAs, signal) => noted(service.detail(requestAs, signal)),
    close: () => service.close(),
    get counts() {
      return service.counts;
    },
    get credentialsVersion() {
      return service.credentialsVersion;
    },
  };
}

/** However often it is called, and at the same time: the first call does it for all. */
function once<Args extends readonly unknown[]>(
  work: (...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  let done: Promise<void> | undefined;
  return (...args) => {
    done ??= work(...args);
    return done;
  };
}
