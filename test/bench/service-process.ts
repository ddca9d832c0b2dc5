// Starts the simulated service of a case in a separate process, and sends it commands.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Load } from "./bench-cases.ts";
import type { ServiceAddress, ServiceCommand, ServiceReport } from "./bench-service.ts";

const PROGRAM = fileURLToPath(new URL("bench-service.ts", import.meta.url));

export class ServiceProcess implements AsyncDisposable {
  readonly address: ServiceAddress;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: ServiceAddress) {
    this.#child = child;
    this.address = address;
  }

  static async start(load: Load): Promise<ServiceProcess> {
    const child = fork(PROGRAM, [JSON.stringify(load)]);
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

  #ask<Reply>(command: ServiceCommand): Promise<Reply> {
    const received = reply<Reply>(this.#child);
    this.#child.send(command);
    return received;
  }
}

/** Both ends belong to this folder, so the reply has the type that its command promises. */
async function reply<Reply>(child: ChildProcess): Promise<Reply> {
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error("the simulated service has ended"));
  child.once("exit", end);
  try {
    const [message] = await once(child, "message", { signal: ended.signal });
    return message;
  } finally {
    child.off("exit", end);
  }
}
