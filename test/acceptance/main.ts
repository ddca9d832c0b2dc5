// `npm run acceptance`: tries a deployed stack, row by row, and leaves it as it was.

import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { accept } from "./acceptance.ts";
import { newClients, readDeployment } from "./deployment.ts";
import { Journal } from "./journal.ts";

const USAGE =
  "npm run acceptance -- --stack BrandEventsSync [--account uk] [--even-published] [--except name=reason] [--out acceptance] [--restore]";

try {
  process.exitCode = await main();
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const isNotSetUp = /^Region is missing|^Could not load credentials/.test(message);
  const hint = isNotSetUp
    ? ". Set AWS_REGION, and credentials for the AWS account, as for the AWS command line."
    : "";
  process.stderr.write(`${message}${hint}\n`);
  process.exitCode = 2;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      stack: { type: "string", default: "BrandEventsSync" },
      account: { type: "string" },
      "even-published": { type: "boolean", default: false },
      except: { type: "string", multiple: true, default: [] },
      out: { type: "string", default: "acceptance" },
      restore: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  if (values.help) {
    print(USAGE);
    return 0;
  }
  const { stack, out: folder } = values;
  const clients = newClients(process.env);
  const journal = new Journal(join(folder, `changes-of-${stack}.json`), clients);
  const undone = await journal.restore();
  for (const one of undone) print(`restored: ${one}`);
  if (values.restore) {
    if (undone.length === 0) print("There is nothing to restore.");
    return 0;
  }
  const deployed = await readDeployment(clients, stack);
  const { accounts } = deployed;
  const [first = ""] = accounts;
  const account = values.account ?? (accounts.length === 1 ? first : "");
  if (!accounts.includes(account)) {
    throw new Error(
      `--account: expected one of ${accounts.join(", ")}, and got ${values.account ?? "nothing"}`,
    );
  }
  const failed = await accept({
    stack,
    deployed,
    account,
    journal,
    ask,
    folder,
    print,
    exceptions: exceptionsOf(values.except),
    evenPublished: values["even-published"],
    isEmulated: /^https?:\/\/(?:127\.|localhost)/.test(process.env["AWS_ENDPOINT_URL"] ?? ""),
  });
  return failed === 0 ? 0 : 1;
}

/** The reason of each, by its name. */
function exceptionsOf(all: readonly string[]): ReadonlyMap<string, string> {
  const parts = all.map((one) => [one, /^(.+)=([^=]+)$/.exec(one)] as const);
  const wrong = parts.find(([, found]) => found === null);
  if (wrong !== undefined) throw new Error(`--except: expected name=reason, and got ${wrong[0]}`);
  return new Map(parts.map(([, found]) => [found?.[1] ?? "", found?.[2] ?? ""]));
}

/** A person, where one is there. */
async function ask(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y/i.test(await terminal.question(`${question} (y/n) `));
  } finally {
    terminal.close();
  }
}
