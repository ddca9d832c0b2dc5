// The environment of a measurement: a simulated service, the programs to compare, each in a process of its own, and a folder
// with a new warehouse for each run.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { buildProgram } from "../../bin/build-program.ts";
import packageJson from "../../package.json" with { type: "json" };
import type { Load } from "./bench-cases.ts";
import type { ServiceAddress, ServiceCommand, ServiceReport } from "./bench-service.ts";
import { USAGE_FILE, type Usage } from "./usage-recorder.ts";

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

const USAGE_RECORDER = new URL("usage-recorder.ts", import.meta.url);

export interface MeasuredRun extends Usage {
  /** From the first request, as the service sees it, to the exit of the process. */
  readonly wallMs: number;
  readonly requests: number;
}

interface Program {
  readonly path: string;
  readonly args: readonly string[];
}

/** `folder` holds the files of the measurement. If the program fails, throws with its output. */
async function measure(
  { path, args }: Program,
  service: ServiceProcess,
  folder: string,
): Promise<MeasuredRun> {
  await service.reset();
  const recorder = await writeRecorder(folder);
  const usageFile = join(folder, "usage.json");
  const child = spawn(process.execPath, ["--import", recorder, path, ...args], {
    cwd: folder,
    env: environment(usageFile),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk;
    });
  }
  const [exitCode] = await once(child, "exit");
  const endedAtMs = Date.now();
  if (exitCode !== 0) throw new Error(`${path} ended with exit code ${exitCode}:\n${output}`);
  const usage: Usage = JSON.parse(await readFile(usageFile, "utf8"));
  const { firstRequestAtMs, requests } = await service.report();
  return { ...usage, wallMs: endedAtMs - firstRequestAtMs, requests };
}

/** As JavaScript, because Node.js would load its compiler of TypeScript into the measured process. */
async function writeRecorder(folder: string): Promise<string> {
  const { code } = await transform(await readFile(USAGE_RECORDER, "utf8"), { loader: "ts" });
  const path = join(folder, "usage-recorder.mjs");
  await writeFile(path, code);
  return path;
}

function environment(usageFile: string): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BRAND_"));
  return { ...Object.fromEntries(inherited), [USAGE_FILE]: usageFile };
}

const ROOT = join(import.meta.dirname, "../..");

/** Below the folder with the packages that a build finds beside it, and not in `dist`, which belongs to the user. */
const BUILT = join(ROOT, "node_modules/.cache/brand-events-sync");

/** Of both programs. */
const CONNECTIONS = 32;

/** Returns the path of the command line as it is installed. */
export async function buildForBench(): Promise<string> {
  buildProgram(BUILT);
  await writeFile(join(BUILT, "package.json"), JSON.stringify({ type: "module" }));
  return join(BUILT, `${packageJson.name}.js`);
}

interface JobFiles {
  readonly warehouse: string;
  readonly credentials: string;
}

/** A run of the command line at `path`. */
function jobProgram(path: string, { url }: ServiceAddress, { warehouse, credentials }: JobFiles): Program {
  const limits = ["--requests-per-minute", "unlimited", "--bytes-per-minute", "unlimited"];
  const files = ["--warehouse", warehouse, "--credentials", credentials];
  const concurrency = ["--concurrency", String(CONNECTIONS)];
  return { path, args: ["run", "--base-url", url, ...concurrency, ...limits, ...files, "--json"] };
}

function bareLoopProgram({ url, credentials }: ServiceAddress): Program {
  const path = join(import.meta.dirname, "bare-loop.ts");
  return { path, args: [JSON.stringify({ url, ...credentials, connections: CONNECTIONS })] };
}

/** Returns the path for the job's `--credentials`. */
async function writeCredentials(folder: string, { credentials }: ServiceAddress): Promise<string> {
  const file = join(folder, "credentials.json");
  await writeFile(file, JSON.stringify({ method: "session", ...credentials }), { mode: 0o600 });
  return file;
}

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
