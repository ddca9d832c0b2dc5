// `npm start`: the whole job against a simulated service, with the commands that a person types.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { evolve } from "../test/simulator/evolve.ts";
import { Simulator } from "../test/simulator/simulator.ts";
import { PROGRAM_NAME } from "./cli/options/read-options.ts";
import { EXIT } from "./cli/output/exit-code.ts";
import { Terminal } from "./cli/output/terminal.ts";
import { stopSignals } from "./cli/wiring/this-process.ts";

const SYNC = fileURLToPath(new URL("sync.ts", import.meta.url));
/** An account and a warehouse of its own, so that simulated and real events are never mixed. */
const ACCOUNT = "demo";
const SETTINGS = "demo-settings.json";
const CONFIG = ["--config", SETTINGS];

const LATEST = `SELECT uuid, event_date, json_extract_scalar(event, '$.name') AS name
  FROM events WHERE account = '${ACCOUNT}' ORDER BY event_date DESC LIMIT 5`;
const CHANGES = `SELECT publication, change, count(*) AS events, min(fields) AS for_example
  FROM event_changes WHERE account = '${ACCOUNT}' GROUP BY ALL ORDER BY publication DESC, change LIMIT 6`;

class DemoStopped extends Error {}

const stdout = new Terminal(process.stdout, process.env);

// The running command gets the signal and ends in good order; then the files of this process are deleted.
const stop = stopSignals({ process, elapsedMs: () => performance.now() });

const folder = await mkdtemp(join(tmpdir(), "brand-events-demo-"));
const simulator = await Simulator.start();
try {
  await demo();
} catch (error) {
  if (!(error instanceof DemoStopped)) throw error;
  new Terminal(process.stderr, process.env).lines(["", error.message]);
  process.exitCode = stop.aborted ? EXIT.interrupted : EXIT.failed;
} finally {
  await simulator.stop();
  await rm(folder, { recursive: true });
}

async function demo(): Promise<void> {
  const credentials = join(folder, "credentials.json");
  const account = { method: "session", ...simulator.credentials };
  await writeFile(credentials, JSON.stringify(account), { mode: 0o600 });
  const settings = {
    warehouse: "./demo-warehouse",
    baseUrl: simulator.url,
    requestsPerMinute: "unlimited",
    bytesPerMinute: "unlimited",
    nextPage: "all",
    accounts: { [ACCOUNT]: { credentials } },
  };
  await writeFile(SETTINGS, `${JSON.stringify(settings, null, 2)}\n`);

  say(
    `A simulated service with ${simulator.listed().length} events runs at ${simulator.url}; ${SETTINGS} names it.`,
  );
  say("The first snapshot:");
  await sync("run", ...CONFIG);

  const { added, changed, archived } = evolve(simulator);
  say(
    `The service changes: ${added} events added, ${changed} changed, ${archived} archived. The second snapshot:`,
  );
  await sync("run", ...CONFIG);

  say("What an analyst reads:");
  await sync("query", LATEST, ...CONFIG);
  say("What each publication changed:");
  await sync("query", CHANGES, ...CONFIG);
  await sync("status", ...CONFIG);
  say("A page to open in the browser:");
  await sync("report", ...CONFIG, "--out", "./demo-report.html");

  say("The simulated service stops now. You can repeat query, status and report, and start all of it again.");
  say(`Continue with your own account:
  1. Address and password:  ${PROGRAM_NAME} init
  2. See its fields:        ${PROGRAM_NAME} discover
  3. Try it:                ${PROGRAM_NAME} check
  4. Make a snapshot:       ${PROGRAM_NAME} run
  5. Query it:              ${PROGRAM_NAME} query "SELECT * FROM events LIMIT 5"`);
}

/** Runs one command of the command line as a process of its own, and shows it. */
async function sync(...args: readonly string[]): Promise<void> {
  throwIfStopped();
  stdout.text(`\n$ ${PROGRAM_NAME} ${args.map(quoted).join(" ")}\n`);
  const child = spawn(process.execPath, [SYNC, ...args], { stdio: "inherit" });
  stop.addEventListener("abort", () => child.kill("SIGTERM"));
  const [exitCode]: readonly (number | string | null)[] = await once(child, "exit");
  throwIfStopped();
  if (exitCode !== 0)
    throw new DemoStopped(`The command failed with exit code ${exitCode}, so the demonstration stops.`);
}

function throwIfStopped(): void {
  if (stop.aborted) throw new DemoStopped("The demonstration was interrupted.");
}

function say(text: string): void {
  stdout.text(`\n${text}\n`);
}

/** The commands hold no character that means something to a shell inside double quotes. */
function quoted(argument: string): string {
  return /^[\w@%+=:,./-]+$/.test(argument) ? argument : `"${argument}"`;
}
