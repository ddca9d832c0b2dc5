// `authorize`: OAuth, once, in the browser. From then on runs renew the tokens themselves.

import type { OAuthCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import { storeAuthorized, type TokenStore } from "../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { isLoopback } from "../../../lambdas/job/network/proxies.ts";
import { systemRandom } from "../../../lambdas/job/runtime/clock.ts";
import { STANDARD_INPUT } from "../../../lambdas/job/settings-file/places.ts";
import { authorizationRequest, exchangeCode } from "../authorize/code-exchange.ts";
import { pasteAnswer } from "../authorize/read-answer.ts";
import { receiveAnswer } from "../authorize/receive-answer.ts";
import { AUTHORIZE_OPTIONS, type OptionValues } from "../options/options.ts";
import { commandLineText } from "../options/read-options.ts";
import { Display } from "../output/display.ts";
import { EXIT } from "../output/exit-code.ts";
import { type CommandContext, command } from "../wiring/command.ts";
import { openCredentials, openTokens } from "../wiring/open-warehouse.ts";

const OPTIONS = [...AUTHORIZE_OPTIONS, "redirectUri", "noBrowser", "paste", "json"] as const;

type Values = OptionValues<(typeof OPTIONS)[number]>;

export const authorizeCommand = command({
  name: "authorize",
  group: "Set up",
  summary: "log in at the identity provider once, in a browser, and store the tokens (method oauth)",
  options: OPTIONS,
  example: "authorize --auth-url https://login.example --credentials credentials/uk.json",
  execute: async (values, context) => {
    const { authUrl, redirectUri, paste } = values;
    if (authUrl === undefined) {
      throw new SyncError(
        "CONFIG_INVALID",
        "The address of the identity provider is missing: give --auth-url https://… or set BRAND_AUTH_URL.",
      );
    }
    if (!paste && !canListenOn(redirectUri)) {
      throw new SyncError(
        "CONFIG_INVALID",
        `No answer can be received at ${redirectUri}, because it is not an http: address of this machine. Add --paste: then you paste the address that the browser ended at.`,
      );
    }
    if (paste && values.credentials === STANDARD_INPUT) {
      throw new SyncError(
        "CONFIG_INVALID",
        "--credentials - and --paste both read standard input. Name a file with --credentials, or leave out --paste.",
      );
    }
    const credentials = await oauthCredentials(values, context);
    const tokens = await openTokens(values, context);
    await refuseUnusable(tokens);
    const { signal, clock, stdout, stderr: terminal } = context;
    const identityProvider = new URL(authUrl);
    const request = authorizationRequest(identityProvider, credentials.client_id, redirectUri, systemRandom);
    const exchange = (code: string): Promise<void> =>
      exchangeCode(code, {
        authUrl: identityProvider,
        credentials,
        request,
        proxies: context.proxies,
        clock,
        authorize: commandLineText(["authorize"], [...AUTHORIZE_OPTIONS, "redirectUri"], values),
        store: (granted) => storeAuthorized(tokens, granted),
      });
    const shared = { request, terminal, clock, signal };
    if (paste) await exchange(await pasteAnswer({ ...shared, input: context.stdin() }));
    else {
      const openBrowser = values.noBrowser ? undefined : context.openBrowser;
      await receiveAnswer({ ...shared, openBrowser }, exchange);
    }
    if (values.json) stdout.json({ ok: true });
    else stdout.message(`Authorized: the tokens are stored in ${tokens.place}. Runs use and renew them.`);
    return EXIT.done;
  },
  failureJson: () => ({ ok: false }),
});

/** Whether this program can listen on it, so that the answer comes by itself. */
export function canListenOn(redirectUri: string): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === "http:" && isLoopback(hostname);
}

async function oauthCredentials(values: Values, context: CommandContext): Promise<OAuthCredentials> {
  const logger = new Display({ terminal: context.stderr, clock: context.clock, level: "info" });
  const read = await (await openCredentials(values.credentials, context, logger)).read();
  if (read.method === "oauth") return read;
  throw new SyncError(
    "CREDENTIALS_INVALID",
    `The credentials have the method "${read.method}", which needs no authorization: run works with them as they are. For OAuth they are {"method":"oauth","client_id":"…","client_secret":"…"}.`,
  );
}

/** What the place refuses is told before the person logs in, not after. */
async function refuseUnusable(tokens: TokenStore): Promise<void> {
  await tokens.read();
  // A version that no tokens have: the claim is never given, and writes no tokens, but a folder may refuse its lock.
  const claim = await tokens.claim("none");
  await claim?.release();
}
