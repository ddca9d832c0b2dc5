// A secret from standard input that is no terminal.

import { readInput } from "../../../lambdas/job/credentials/read-input.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Input } from "../authorize/paste-answer.ts";

export function readSecretLine(input: Input, signal: AbortSignal): Promise<string> {
  return readInput(input, signal, (problem) => {
    return new SyncError("CONFIG_INVALID", `Standard input ${problem}, so it cannot be the secret.`);
  });
}
