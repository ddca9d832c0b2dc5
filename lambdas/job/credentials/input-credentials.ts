// The account's credentials from standard input, so that they are in no file and in no list of processes.

import { SyncError } from "../errors/sync-error.ts";
import { type Credentials, parseCredentials, type ServiceCredentials } from "./credentials.ts";
import { readInput } from "./read-input.ts";

export interface InputCredentialsOptions {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly signal: AbortSignal;
}

export class InputCredentials implements Credentials {
  readonly #options: InputCredentialsOptions;
  #read: Promise<ServiceCredentials> | undefined;

  constructor(options: InputCredentialsOptions) {
    this.#options = options;
  }

  /** The input can be read once, so every call gives the same. Throws `CREDENTIALS_INVALID`, or the signal's reason. */
  read(): Promise<ServiceCredentials> {
    this.#read ??= readAll(this.#options).then(parseCredentials);
    return this.#read;
  }
}

async function readAll({ input, signal }: InputCredentialsOptions): Promise<string> {
  if (input.isTTY) throw unusable("is a terminal, which would show what is typed");
  const text = await readInput(input, signal, unusable);
  if (text.trim() === "") throw unusable("ended before any came");
  return text;
}

function unusable(problem: string): SyncError {
  return new SyncError(
    "CREDENTIALS_INVALID",
    `The credentials were to come from standard input (--credentials -), which ${problem}. Pipe them into the program, as one JSON: {"method":"session","email":"…","password":"…"}. Or name a file with --credentials.`,
  );
}
