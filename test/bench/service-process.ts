// Starts the simulated service of a case in a process of its own, and talks to it.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "./bench-case.ts";
import type { ServiceAddress, ServiceCommand, ServiceReport } from "./bench-service.ts";

const PROGRAM = fileURLToPath(new URL("bench-service.ts", import.meta.url));

export class ServiceProcess implements AsyncDisposable {
  readonly address: ServiceAddress;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: ServiceAddress) {
    this.#child = child;
    this.address = address;
  }

  static async start(options: ServiceOptions): Promise<ServiceProcess> {
    const child = fork(PROGRAM, [JSON.stringify(options)]);
    return new ServiceProcess(child, await reply<ServiceAddress>(child));
  }

  reset(): Promise<unknown> {
    return this.#ask({ do: "reset" });
  }

  change(oneIn: number): Promise<unknown> {
    return this.#ask({ do: "change", oneIn });
  }

  report(): Promise<ServiceReport> {
    return this.#ask({ do: "report" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill();
    await ended;
  }

  #ask<Answer>(command: ServiceCommand): Promise<Answer> {
    const answer = reply<Answer>(this.#child);
    this.#child.send(command);
    return answer;
  }
}

/** Both ends are this folder's own, so what comes is what was promised. */
async function reply<Answer>(child: ChildProcess): Promise<Answer> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error("the simulated service has ended"));
  child.once("exit", end);
  try {
    const [answer] = await once(child, "message", { signal: ended.signal });
    return answer;
  } finally {
    child.off("exit", end);
  }
}
