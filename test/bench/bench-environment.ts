// The environment of a measurement: a simulated service, and a folder with a new warehouse for each run.

import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Load } from "./bench-cases.ts";
import { type MeasuredRun, measure } from "./measured-process.ts";
import { bareLoopProgram, jobProgram, writeCredentials } from "./programs.ts";
import { ServiceProcess } from "./service-process.ts";

export interface BenchEnvironmentOptions {
  readonly load: Load;
  /** The command line. */
  readonly program: string;
  /** Made here. */
  readonly folder: string;
}

export class BenchEnvironment implements AsyncDisposable {
  readonly #service: ServiceProcess;
  readonly #options: BenchEnvironmentOptions;
  readonly #credentials: string;

  private constructor(service: ServiceProcess, options: BenchEnvironmentOptions, credentials: string) {
    this.#service = service;
    this.#options = options;
    this.#credentials = credentials;
  }

  /** If the case needs a head to compare with, this makes it and then changes events of the service. */
  static async open(options: BenchEnvironmentOptions): Promise<BenchEnvironment> {
    const { load, folder } = options;
    await mkdir(folder);
    const started = await ServiceProcess.start(load);
    const credentials = await writeCredentials(folder, started.address);
    const environment = new BenchEnvironment(started, options, credentials);
    if (load.changedOneIn !== undefined) {
      await environment.#measureJob(environment.#head);
      await started.change(load.changedOneIn);
    }
    return environment;
  }

  runBareLoop(): Promise<MeasuredRun> {
    return measure(bareLoopProgram(this.#service.address), this.#service, this.#options.folder);
  }

  async runJob(): Promise<MeasuredRun> {
    const { folder, load } = this.#options;
    const warehouse = join(folder, "warehouse");
    if (load.changedOneIn !== undefined) await cp(this.#head, warehouse, { recursive: true });
    try {
      return await this.#measureJob(warehouse);
    } finally {
      await rm(warehouse, { recursive: true, force: true });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  get #head(): string {
    return join(this.#options.folder, "head");
  }

  #measureJob(warehouse: string): Promise<MeasuredRun> {
    const { program, folder } = this.#options;
    const files = { warehouse, credentials: this.#credentials };
    return measure(jobProgram(program, this.#service.address, files), this.#service, folder);
  }
}
