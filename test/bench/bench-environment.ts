// The environment of a measurement: a simulated service, and a folder with a new warehouse for each run.

import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobOptions, ServiceOptions } from "./bench-case.ts";
import { type MeasuredRun, measure } from "./measured-process.ts";
import { type Phases, phasesOf, readProfile } from "./phases.ts";
import { bareLoopProgram, jobProgram, SOURCES, writeCredentials } from "./programs.ts";
import { ServiceProcess } from "./service-process.ts";

export interface BenchEnvironmentOptions {
  readonly service: ServiceOptions;
  readonly job: JobOptions;
  /** The built command line. */
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
    const { service, job, folder } = options;
    await mkdir(folder);
    const started = await ServiceProcess.start(service);
    const credentials = await writeCredentials(folder, started.address);
    const environment = new BenchEnvironment(started, options, credentials);
    if (job.changedOneIn !== undefined) {
      await environment.#measureJob(environment.#head, options.program);
      await started.change(job.changedOneIn);
    }
    return environment;
  }

  runBareLoop(): Promise<MeasuredRun> {
    const { job, folder } = this.#options;
    return measure(bareLoopProgram(this.#service.address, job), this.#service, folder);
  }

  runJob(): Promise<MeasuredRun> {
    return this.#run(this.#options.program);
  }

  /**
   * One further run under Node's profiler, of the sources, whose files say which phase it is in. The profiler slows it
   * down, so only the proportions count.
   */
  async profileJob(): Promise<Phases> {
    const folder = join(this.#options.folder, "profile");
    const run = await this.#run(SOURCES, ["--cpu-prof", "--cpu-prof-dir", folder]);
    const phases = phasesOf(await readProfile(folder), run);
    await rm(folder, { recursive: true });
    return phases;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]();
  }

  get #head(): string {
    return join(this.#options.folder, "head");
  }

  async #run(program: string, nodeOptions: readonly string[] = []): Promise<MeasuredRun> {
    const { folder, job } = this.#options;
    const warehouse = join(folder, "warehouse");
    if (job.changedOneIn !== undefined) await cp(this.#head, warehouse, { recursive: true });
    try {
      return await this.#measureJob(warehouse, program, nodeOptions);
    } finally {
      await rm(warehouse, { recursive: true, force: true });
    }
  }

  #measureJob(warehouse: string, path: string, nodeOptions: readonly string[] = []): Promise<MeasuredRun> {
    const { job, folder } = this.#options;
    const files = { warehouse, credentials: this.#credentials };
    const program = jobProgram(path, this.#service.address, job, files);
    return measure({ ...program, nodeOptions }, this.#service, folder);
  }
}
