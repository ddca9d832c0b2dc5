// Runs the command line: in this process, or in one of its own where a signal, a kill or a pipe is the point.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import type { OpenBrowser } from "../../bin/cli/authorize/receive-answer.ts";
import { main } from "../../bin/cli/main.ts";
import { Terminal } from "../../bin/cli/output/terminal.ts";
import { SyncError } from "../../lambdas/job/errors/sync-error.ts";
import { type Clock, systemClock } from "../../lambdas/job/runtime/clock.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";

export const SYNC = fileURLToPath(new URL("../../bin/sync.ts", import.meta.url));

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface EndedProcess extends Ended {
  readonly signal: NodeJS.Signals | null;
}

export interface Started {
  readonly process: ChildProcess;
  readonly ended: Promise<EndedProcess>;
}

export interface StartOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface ProcessOptions extends StartOptions {
  /** Default: there is no standard input. */
  readonly stdin?: "pipe";
}

export interface SyncOptions extends StartOptions {
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** What is typed; default: nothing. */
  readonly stdin?: Readable;
  readonly onStderr?: (text: string) => void;
  /** Standard output is a terminal of this width; default: a pipe. */
  readonly columns?: number;
  readonly openBrowser?: OpenBrowser;
}

/** Runs a command in this process, with no environment but the one given. */
export async function sync(args: readonly string[], options: SyncOptions): Promise<Ended> {
  const { cwd, env = {}, signal = new AbortController().signal, stdin = Readable.from([]) } = options;
  const stdout = new Recorded();
  if (options.columns !== undefined) Object.assign(stdout, { isTTY: true, columns: options.columns });
  const stderr = new Recorded(options.onStderr);
  const exitCode = await main(args, env, {
    stdout: new Terminal(stdout),
    stderr: new Terminal(stderr),
    signal,
    cwd,
    clock: options.clock ?? systemClock,
    stdin: () => stdin,
    openBrowser: options.openBrowser ?? (async () => false),
  });
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

/** Stops the command as soon as it says this. */
export function stoppedAt(said: string): Required<Pick<SyncOptions, "signal" | "onStderr">> {
  const stop = new AbortController();
  const onStderr = (text: string): void => {
    if (text.includes(said)) stop.abort(new SyncError("INTERRUPTED", "Stopped."));
  };
  return { signal: stop.signal, onStderr };
}

/** The input of a person at a terminal, who types nothing. */
export const atTerminal = (): Readable => Object.assign(Readable.from([]), { isTTY: true });

/** Starts a TypeScript program in `cwd` with no `BRAND_` variable but those given. */
export function start(
  program: string,
  args: readonly string[],
  { cwd, env = {}, stdin }: ProcessOptions,
): Started {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("BRAND_"));
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: [stdin ?? "ignore", "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  child.stdout?.on("data", (chunk: Buffer) => {
    said.stdout += chunk;
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    said.stderr += chunk;
  });
  const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal, ...said }));
  return { process: child, ended };
}

export function startSync(args: readonly string[], options: ProcessOptions): Started {
  return start(SYNC, args, options);
}

/** Runs a command in a process of its own, for what a process takes from its environment itself. */
export function syncProcess(args: readonly string[], options: StartOptions): Promise<EndedProcess> {
  return startSync(args, options).ended;
}

/** What a person has set up: a folder with the credentials of a service, where commands run. It is gone when the test is. */
export interface Laptop {
  readonly cwd: string;
  readonly simulator: Simulator;
  /** The folder of the warehouse; the first run makes it. */
  readonly warehouse: string;
  /** A command that sends nothing to the service, or has options of its own for it. */
  readonly command: (...args: readonly string[]) => Promise<Ended>;
  /** A command that asks the service, without limits. */
  readonly ask: (...args: readonly string[]) => Promise<Ended>;
  /** Lists so many events from now on, if a number is given, runs, and returns the id of the snapshot. */
  readonly snapshot: (events?: number, ...args: readonly string[]) => Promise<string>;
}

/** With a service as the simulator takes it. */
export async function laptop(service: Parameters<typeof Simulator.start>[0] = {}): Promise<Laptop> {
  const cwd = await temporaryDirectory();
  const simulator = await Simulator.start(service);
  onTestFinished(() => simulator.stop());
  await writeCredentials(cwd, simulator);
  const command: Laptop["command"] = (...args) => sync(args, { cwd });
  const ask: Laptop["ask"] = (...args) => command(...args, ...against(simulator));
  return {
    cwd,
    simulator,
    warehouse: join(cwd, "warehouse"),
    command,
    ask,
    snapshot: async (events, ...args) => {
      if (events !== undefined) simulator.setEvents(makeEvents(events));
      return String(lastJson(await ask("run", "--json", ...args))["snapshot_id"]);
    },
  };
}

/** Writes the account's credentials where the command line looks for them. */
export async function writeCredentials(directory: string, simulator: Simulator): Promise<string> {
  const file = join(directory, "credentials.json");
  const credentials = { method: "session", ...simulator.credentials };
  await writeFile(file, JSON.stringify(credentials), { mode: 0o600 });
  return file;
}

/** Writes a settings file of accounts, each with its credentials in a file of its own, and without limits. */
export async function writeAccounts(
  directory: string,
  accounts: Readonly<Record<string, object>>,
  settings: object,
): Promise<void> {
  await mkdir(join(directory, "credentials"));
  const own: [string, object][] = [];
  for (const [account, credentials] of Object.entries(accounts)) {
    const file = `credentials/${account}.json`;
    await writeFile(join(directory, file), JSON.stringify(credentials), { mode: 0o600 });
    own.push([account, { credentials: file }]);
  }
  const unlimited = { requestsPerMinute: "unlimited", bytesPerMinute: "unlimited" };
  const all = { ...unlimited, accounts: Object.fromEntries(own), ...settings };
  await writeFile(join(directory, "brand-events.json"), JSON.stringify(all));
}

/** The options that point the command line at a simulated service without limits. */
export function against(simulator: Simulator): readonly string[] {
  const unlimited = ["--requests-per-minute", "unlimited", "--bytes-per-minute", "unlimited"];
  return ["--base-url", simulator.url, ...unlimited];
}

/** The last line of stdout, which `--json` promises. */
export function lastJson({ stdout }: Ended): Record<string, unknown> {
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
}

/** The words of each command that an output tells people to run, as their shell reads them. */
export function printedCommands(output: string): readonly (readonly string[])[] {
  return printedTexts(output).map(shellWords);
}

/** The first of them with this name. */
export function printedCommand(output: string, command: string): readonly string[] {
  const printed = printedTexts(output).find((text) => text.split(" ", 1)[0] === command);
  if (printed === undefined) throw new Error(`it prints no command ${command}: ${output}`);
  return shellWords(printed);
}

function printedTexts(output: string): readonly string[] {
  const rests = output.split("npm run sync -- ").slice(1);
  return rests.map((rest) => rest.split(/\n|`| \((?:in AWS|account) /, 1)[0] ?? "");
}

/** The words of a text as a shell reads them. */
export function shellWords(text: string): readonly string[] {
  return execFileSync("sh", ["-c", `printf '%s\\n' ${text}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

/** A stream that keeps what is written to it. */
class Recorded extends PassThrough {
  text = "";
  readonly #onText: ((text: string) => void) | undefined;

  constructor(onText?: (text: string) => void) {
    super();
    this.#onText = onText;
  }

  override write(chunk: unknown, ...[encoding, written]: readonly unknown[]): boolean {
    this.text += chunk;
    this.#onText?.(String(chunk));
    const callback = typeof encoding === "function" ? encoding : written;
    if (typeof callback === "function") queueMicrotask(() => callback());
    return true;
  }
}
