// `npm run simulator`: the simulated service, to play with by hand.

import { DEFAULT_PORT, readCommandLine, USAGE } from "./command-line.ts";
import { CONTROL } from "./control.ts";
import type { SimulatorOptions } from "./settings.ts";
import { Simulator } from "./simulator.ts";

const ACCOUNT = { email: "demo@example.test", password: "demo-password" };

const complain = (message: string, exitCode: number): void => {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
};

const read = (): SimulatorOptions | undefined => {
  try {
    const options = readCommandLine(process.argv.slice(2));
    if (options === undefined) process.stdout.write(USAGE);
    return options;
  } catch (error) {
    complain(`${error instanceof Error ? error.message : error}\n\n${USAGE}`, 2);
    return undefined;
  }
};

const introduction = ({ url, size, credentials }: Simulator): string => `\
The simulated service has ${size} events and listens at ${url}

Credentials, to be saved as ./credentials.json:
${JSON.stringify({ method: "session", ...credentials })}

Let its events change:  curl -X POST ${url}${CONTROL.change}
See what it was asked:  curl ${url}${CONTROL.counts}
Make a snapshot of it:  npm run sync -- run --base-url ${url}

Ctrl-C ends it.
`;

const unavailable = (error: unknown, port: number | undefined): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `Port ${port} is taken. Choose another: --port ${DEFAULT_PORT + 1}, or --port 0 for any free one.`;
  if (code === "EACCES")
    return `Port ${port} is not open to you. Choose one above 1023, or --port 0 for any free one.`;
  return `The simulator cannot listen on port ${port}: ${error instanceof Error ? error.message : error}`;
};

const options = read();
if (options !== undefined) {
  try {
    const simulator = await Simulator.start({ ...options, account: ACCOUNT });
    process.stdout.write(introduction(simulator));
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void simulator.stop());
  } catch (error) {
    complain(unavailable(error, options.port), 1);
  }
}
