// Where programs are measured: a simulated service, and a folder whose warehouse is fresh for each run.

import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { JobOptions, ServiceOptions } from "./bench-case.ts";
import { type MeasuredRun, measure } from "./measured-process.ts";
import { type Phases, phasesOf, readProfile } from "./phases.ts";
import { bareLoopProgram, jobProgram, writeCredentials } from "./programs.ts";
import { ServiceProcess } from "./service-process.ts";

export class Place implements AsyncDisposable {
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

  /** Where the job has a head to compare with, this makes it, and lets the service change. */
  static async open(service: ServiceOptions, job: JobOptions, folder: string): Promise<Place> {
    await mkdir(folder);
    const started = await ServiceProcess.start(service);
    const credentials = await writeCredentials(folder, started.address);
    const place = new Place(started, job, folder, credentials);
    if (job.changedOneIn !== undefined) {
      await place.#measureJob(place.#head);
      await started.change(job.changedOneIn);
    }
    return place;
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

  /** One more run under Node's profiler, which slows it down: for what time is spent on, not for how much. */
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
    const place = { warehouse, credentials: this.#credentials };
    const program = await jobProgram(this.#service.address, this.#job, place);
    const nodeOptions = [...program.nodeOptions, ...more];
    return measure({ ...program, nodeOptions }, this.#service, this.#folder);
  }
}
