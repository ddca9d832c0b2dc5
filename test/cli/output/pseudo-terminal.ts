// Runs the command line on a pseudo-terminal, which Python can make wherever there is one.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { SYNC } from "../command-line.ts";

const PYTHON = "python3";
const SCRIPT = fileURLToPath(new URL("pseudo-terminal.py", import.meta.url));

export const hasPseudoTerminals =
  process.platform !== "win32" && spawnSync(PYTHON, ["-c", "import pty"]).status === 0;

export interface OnTerminal {
  /** What was written so far. */
  readonly text: () => string;
  /** Waits until what was written from `from` on contains this, and returns it. */
  readonly until: (part: string | RegExp, from?: number) => Promise<string>;
  readonly resize: (columns: number) => void;
  readonly interrupt: () => void;
  /** Waits for the question, and types this and Enter. */
  readonly answer: (question: string | RegExp, typed: string) => Promise<void>;
  readonly exitCode: Promise<number>;
}

export function syncOnTerminal(
  args: readonly string[],
  options: {
    readonly cwd: string;
    readonly columns: number;
    readonly env?: Readonly<Record<string, string>>;
  },
): OnTerminal {
  const { NO_COLOR: _, ...inherited } = process.env;
  const env = { ...inherited, TERM: "xterm-256color", ...options.env };
  const command = [SCRIPT, String(options.columns), process.execPath, SYNC, ...args];
  const child = spawn(PYTHON, command, { cwd: options.cwd, env, stdio: ["pipe", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  const exitCode = once(child, "close").then(([code]) => Number(code));
  const until = async (part: string | RegExp, from = 0): Promise<string> => {
    const isThere = (): boolean =>
      typeof part === "string" ? text.includes(part, from) : part.test(text.slice(from));
    while (!isThere()) {
      await Promise.race([once(child.stdout, "data"), once(child, "close").then(() => ended(text, part))]);
    }
    return text;
  };
  return {
    text: () => text,
    until,
    resize: (columns) => child.stdin.write(`${columns}\n`),
    interrupt: () => child.stdin.write("interrupt\n"),
    answer: async (question, typed) => {
      await until(question);
      child.stdin.write(`type:${Buffer.from(`${typed}\r`).toString("hex")}\n`);
    },
    exitCode,
  };
}

function ended(text: string, part: string | RegExp): never {
  throw new Error(`it ended without ${part}: ${JSON.stringify(text)}`);
}
