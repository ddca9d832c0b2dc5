// Where the answers of `init` come from: what is given, then a person at a terminal, or else standard input for a secret.

import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import type { Question, Questions } from "./questions.ts";

export interface NamedQuestion<Value> extends Question<Value> {
  /** The option or the variable that gives it. */
  readonly name: string;
}

export class Answers {
  readonly #questions: Pick<Questions, "ask"> | undefined;
  readonly #readInput: () => Promise<string>;

  /** @param questions undefined without a terminal; then `readInput` has the secret */
  constructor(questions: Pick<Questions, "ask"> | undefined, readInput: () => Promise<string>) {
    this.#questions = questions;
    this.#readInput = readInput;
  }

  /** Without a terminal the fallback, or `CONFIG_INVALID` naming what is missing. */
  async get<Value>(given: Value | undefined, question: NamedQuestion<Value>): Promise<Value> {
    if (given !== undefined) return given;
    if (this.#questions) return this.#questions.ask(question);
    if (question.fallback !== undefined) return question.parse(question.fallback);
    throw missing(question.name, "There is no terminal to ask at.");
  }

  async secret(given: string | undefined, question: NamedQuestion<string>): Promise<string> {
    if (given !== undefined) return given;
    if (this.#questions) return this.#questions.ask({ ...question, isHidden: true });
    const text = (await this.#readInput()).replace(/\r?\n$/, "");
    if (text !== "" && !/[\r\n]/.test(text)) return question.parse(text);
    throw missing(question.name, `Standard input has ${text === "" ? "nothing" : "more than one line"}.`);
  }
}

function missing(name: string, why: string): SyncError {
  const how = name.startsWith("--") ? `Give ${name}` : `Set ${name}, or pipe it into standard input`;
  return new SyncError("CONFIG_INVALID", `${how}. ${why} Nothing was written.`);
}
