// Turns a run's settings into a client of the service: the only place that does.

import { type Credentials, CredentialsNotSetUp } from "../credentials/credentials.ts";
import type { TokenStore } from "../credentials/tokens/token-store.ts";
import { SyncError } from "../errors/sync-error.ts";
import type { OAuthOptions } from "../service/auth/oauth/by-tokens.ts";
import type { Transport } from "../service/http/transport.ts";
import { createEventService, type EventServiceOptions } from "../service/http-event-service.ts";
import type { RunPorts } from "./run-ports.ts";
import type { RunSettings } from "./run-settings.ts";

interface ServicePorts
  extends Pick<
    EventServiceOptions,
    | "clock"
    | "random"
    | "logger"
    | "onWait"
    | "keepTryingUntilMs"
    | "proxies"
    | "timeoutMs"
    | "timeLeftMs"
    | "transport"
  > {
  readonly credentials: Credentials;
  /** For the method `oauth`. */
  readonly authorization?: TokenAccess | undefined;
}

/** Where the tokens of an account are, and the command that stores new ones there. */
interface TokenAccess {
  /** Throws `CONFIG_INVALID` where no place is set. */
  readonly tokens: () => Promise<TokenStore>;
  readonly command: string;
}

/** How a run with these settings opens the service. The credentials are read each time it does. */
export function serviceOpener(settings: RunSettings, ports: ServicePorts): RunPorts["openService"] {
  const { credentials, authorization, ...others } = ports;
  return async (rateLimiter) => {
    const read = await credentials.read();
    return createEventService({
      ...others,
      ...settings,
      rateLimiter,
      credentials: read,
      readCredentials: () => credentials.read(),
      versionOf: (current) => credentials.versionOf?.(current),
      oauth:
        read.method === "oauth" ? await oauthOptions(settings, authorization, ports.transport) : undefined,
    });
  };
}

/** Throws `CONFIG_INVALID` for a missing setting, and `CredentialsNotSetUp` for a secret that never had tokens. */
async function oauthOptions(
  { authUrl }: RunSettings,
  authorization: TokenAccess | undefined,
  transport: Transport | undefined,
): Promise<OAuthOptions> {
  if (authUrl === undefined || authorization === undefined)
    throw new SyncError(
      "CONFIG_INVALID",
      "The method oauth needs the address of the identity provider: give --auth-url https://… or set BRAND_AUTH_URL; in cdk.json it is authUrl.",
      { fields: { setting: "authUrl" } },
    );
  const { command } = authorization;
  const tokens = await authorization.tokens();
  const { version: tokensVersion } = await tokens.read();
  if (tokensVersion === undefined && tokens.isCreatedEmpty) {
    throw new CredentialsNotSetUp(`There are no tokens in ${tokens.place} yet. Authorize once: ${command}`);
  }
  const own = transport === undefined ? {} : { transport };
  return { authUrl, tokens, tokensVersion, authorize: command, ...own };
}
