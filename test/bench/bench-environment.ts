// The environment of a measurement: a simulated service, and a folder with a new warehouse for each run.

import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobOptions, ServiceOptions } from "./bench-case.ts";
import { type MeasuredRun, measure } from "./measured-process.ts";
import { type Phases, phasesOf, readProfile } from "./phases.ts";
import { bareLoopProgram, jobProgram, writeCredentials } from "./programs.ts";
import { ServiceProcess } from "./service-process.ts";

export class BenchEnvironment implements AsyncDisposable {
  readonly #service: ServiceProcess;
  readonly #job: JobOptions;
  readonly #folder: string;
  readonly #credentials: string;

  private constructor(service: ServiceProcess, job: JobOptions, folder: string, credentials: string) {
    this.#service = service;
    this.#job = job;
    this.#folder = folder;
    this.#credentials = credentials;
  }

  /** If the case needs a head to compare with, this makes it and then changes events of the service. */
  static async open(service: ServiceOptions, job: JobOptions, folder: string): Promise<BenchEnvironment> {
    await mkdir(folder);
    const started = await ServiceProcess.start(service);
    const credentials = await writeCredentials(folder, started.address);
    const environment = new BenchEnvironment(started, job, folder, credentials);
    if (job.changedOneIn !== undefined) {
      await environment.#measureJob(environment.#head);
      await started.change(job.changedOneIn);
    }
    return environment;
  }

  runBareLoop(): Promise<MeasuredRun> {
    return measure(bareLoopProgram(this.#service.address, this.#job), this.#service, this.#folder);
  }

  async runJob(nodeOptions: readonly string[] = []): Promise<MeasuredRun> {
    const warehouse = join(this.#folder, "warehouse");
    if (this.#job.changedOneIn !== undefined) await cp(this.#head, warehouse, { recursive: true });
    try {
      return await this.#measureJob(warehouse, nodeOptions);
    } finally {
      await rm(warehouse, { recursive: true, force: true });
    }
  }

  /** One further run under Node's profiler. The profiler slows it down, so only the proportions count. */
  async profileJob(): Promise<Phases> {
    const folder = join(this.#folder, "profile");
    const run = await this.runJob(["--cpu-prof", "--cpu-prof-dir", folder]);
    const phases = phasesOf(await readProfile(folder), run);
    await rm(folder, { recursive: true });
    return phases;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  get #head(): string {
    return join(this.#folder, "head");
  }

  async #measureJob(warehouse: string, more: readonly string[] = []): Promise<MeasuredRun> {
    const files = { warehouse, credentials: this.#credentials };
    const program = await jobProgram(this.#service.address, this.#job, files);
    const nodeOptions = [...program.nodeOptions, ...more];
    return measure({ ...program, nodeOptions }, this.#service, this.#folder);
  }
}
