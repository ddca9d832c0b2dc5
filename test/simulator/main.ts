// `npm run simulator`: the simulated service, to play with by hand.

import { DEFAULT_PORT, readCommandLine, type SimulatorCommand, USAGE } from "./command-line.ts";
import { IdentityProvider } from "./identity/identity-provider.ts";
import { CONTROL, Simulator } from "./simulator.ts";

const ACCOUNT = { email: "demo@example.test", password: "demo-password" };
const CLIENT = { id: "demo-client", secret: "demo-client-secret" };

const complain = (message: string, exitCode: number): void => {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
};

const read = (): SimulatorCommand | undefined => {
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

`;

const oauthIntroduction = ({ url, credentials }: IdentityProvider, serviceUrl: string): string => `\
Its identity provider listens at ${url}, where ${ACCOUNT.email} logs in with ${ACCOUNT.password}

Credentials for OAuth, to be saved as ./credentials.json in place of those above:
${JSON.stringify(credentials)}

Authorize once:         npm run sync -- authorize --auth-url ${url}
Make a snapshot of it:  npm run sync -- run --base-url ${serviceUrl} --auth-url ${url}

`;

const unavailable = (error: unknown, port: number | undefined): string => {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE")
    return `Port ${port} is taken. Choose another: --port ${DEFAULT_PORT + 1}, or --port 0 for any free one.`;
  if (code === "EACCES")
    return `Port ${port} is not open to you. Choose one above 1023, or --port 0 for any free one.`;
  return `The simulator cannot listen on port ${port}: ${error instanceof Error ? error.message : error}`;
};

/** Undefined where the port is not free; the reason is told. */
const started = async <T>(port: number | undefined, start: () => Promise<T>): Promise<T | undefined> => {
  try {
    return await start();
  } catch (error) {
    complain(unavailable(error, port), 1);
    return undefined;
  }
};

const command = read();
if (command !== undefined) {
  const { service, identity } = command;
  const provider =
    identity &&
    (await started(identity.port, () =>
      IdentityProvider.start({ ...identity, client: { ...identity.client, ...CLIENT }, user: ACCOUNT }),
    ));
  const simulator = process.exitCode
    ? undefined
    : await started(service.port, () => Simulator.start({ ...service, account: ACCOUNT, bearer: provider }));
  if (simulator === undefined) await provider?.stop();
  else {
    process.stdout.write(introduction(simulator));
    if (provider !== undefined) process.stdout.write(oauthIntroduction(provider, simulator.url));
    process.stdout.write("Ctrl-C ends it.\n");
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => void Promise.all([simulator.stop(), provider?.stop()]));
    }
  }
}
