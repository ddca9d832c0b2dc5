// What a command needs to be printed and to work: a service, an identity provider, a receiver of notifications, and a
// warehouse whose path has to be quoted.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { httpServer } from "../../job/service/http/local-server.ts";
import { temporaryDirectory } from "../../job/storage/directory/temporary-directory.ts";
import { IdentityProvider } from "../../simulator/identity/identity-provider.ts";
import { decide } from "../../simulator/identity/person.ts";
import { makeEvents } from "../../simulator/simulated-event.ts";
import { Simulator } from "../../simulator/simulator.ts";
import { freeRedirectUri, visit } from "../authorize/around-authorize.ts";
import { type Ended, type SyncOptions, sync, writeCredentials } from "../command-line.ts";

export type PrintedWorld = Awaited<ReturnType<typeof printedWorld>>;

/** `asks`: the service asks for tokens of the identity provider, or for a session's cookies. */
export async function printedWorld(asks: "tokens" | "cookies" = "cookies") {
  const cwd = await temporaryDirectory();
  const redirectUri = await freeRedirectUri();
  const provider = await IdentityProvider.start({ client: { redirectUris: [redirectUri] } });
  const service = await Simulator.start({
    list: { members: { top: ({ all }) => `"total":${all}` } },
    events: makeEvents(12),
    ...(asks === "tokens" ? { bearer: provider } : {}),
  });
  const texts: string[] = [];
  const hook = await httpServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    texts.push(String(JSON.parse(body).text));
    response.end();
  });
  const credentials = await writeCredentials(cwd, service);
  if (asks === "tokens") await writeFile(credentials, JSON.stringify(provider.credentials));
  const place = ["--warehouse", "our team's $data", "--account", "uk"] as const;
  const unlimited = ["--requests-per-minute", "unlimited", "--bytes-per-minute", "unlimited"];
  const of = [
    "--base-url",
    service.url,
    ...unlimited,
    ...(asks === "tokens" ? ["--auth-url", provider.url] : []),
  ];

  /** A person at the browser allows the access; `change` is what happens to the address that it is sent to. */
  const allows = async (address: string, change = (sentTo: string): string => sentTo): Promise<boolean> => {
    const sentTo = await decide(address, { user: provider.user, decision: "allow" });
    void visit(change(sentTo));
    return true;
  };
  const command = (args: readonly string[], { env, ...options }: Partial<SyncOptions> = {}): Promise<Ended> =>
    sync(args, {
      cwd,
      env: { BRAND_REDIRECT_URI: redirectUri, ...env },
      openBrowser: (address) => allows(address),
      ...options,
    });

  return {
    cwd,
    credentials,
    provider,
    service,
    /** The warehouse and the account. */
    place,
    /** The service, without limits. */
    of,
    isOAuth: asks === "tokens",
    allows,
    command,
    run: (...args: readonly string[]): Promise<Ended> => command(["run", ...place, ...of, ...args]),
    /** Runs, and returns the text of the notification. */
    toldBy: async (): Promise<string> => {
      const told = ["--notify-url", hook.url, "--notify-on", "published,held,failed"];
      await command(["run", ...place, ...of, ...told]);
      return texts.at(-1) ?? "";
    },
    /** The next snapshot is held. */
    halve: (): void => service.setEvents(makeEvents(6)),
    warehouse: join(cwd, "our team's $data"),
    [Symbol.asyncDispose]: async () => {
      await hook[Symbol.asyncDispose]();
      await service.stop();
      await provider.stop();
    },
  };
}
