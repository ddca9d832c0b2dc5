// The port of the place that keeps the tokens of an OAuth authorization, which is replaced with each renewal.

import * as z from "zod";
import { advise, command } from "../../errors/advice.ts";
import { SyncError } from "../../errors/sync-error.ts";

/** What is stored now. `version` names the value: another value has another name. */
export type StoredTokens =
  | { readonly version: string; readonly tokens: OAuthTokens }
  /** Something else than tokens: an empty file, another program's text. */
  | { readonly version: string; readonly tokens: undefined }
  /** Nothing was ever stored. */
  | { readonly version: undefined; readonly tokens: undefined };

/** The right to renew one version of the tokens. */
export interface RenewalClaim {
  /** False as soon as another process may claim the same version: then no request is sent any more. */
  readonly isHeld: boolean;
  /** Ends the claim. Nothing happens where it has ended already. */
  release(): Promise<void>;
}

/**
 * Keeps the tokens of one authorization, also for several processes and accounts at once. Sends nothing to the
 * identity provider. Every operation throws `SyncError` `STORE_FAILED` or `CREDENTIALS_INVALID` for what the place refuses.
 */
export interface TokenStore {
  /** The place, in the words of a message: "the file …", "the secret …". */
  readonly place: string;
  /** Whether a place without tokens means that the setup is not finished, as with a secret that the stack made. */
  readonly isCreatedEmpty: boolean;
  read(): Promise<StoredTokens>;
  /**
   * Undefined while another claim lasts, or where `version` is not the stored one any more. Writes no version. A claim
   * ends by itself when its process is gone, at once or after a minute.
   */
  claim(version: string): Promise<RenewalClaim | undefined>;
  /**
   * Stores the tokens in place of `version` (undefined: where nothing was stored), durably and as a whole. Returns the
   * new version, or undefined where another value is stored: then nothing is changed.
   */
  replace(version: string | undefined, tokens: OAuthTokens): Promise<string | undefined>;
}

/** Visible ASCII, as a header needs it (RFC 6750 §2.1). */
const token = z
  .string()
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/);
const instant = z.iso.datetime();

const schema = z
  .object({
    format: z.literal(1),
    /** The client that the tokens were issued to. */
    client_id: z.string().min(1),
    access_token: token,
    refresh_token: token,
    token_type: z.literal("Bearer"),
    obtained_at: instant,
    /** Absent where the identity provider did not say how long the access token is valid. */
    expires_at: instant.optional(),
    /** Whether the tokens came of a renewal: this client's renewals are accepted. */
    renewed: z.boolean().optional(),
  })
  .readonly();

export type OAuthTokens = z.infer<typeof schema>;

/** Whether a text may be a token of a stored authorization. */
export function isToken(value: unknown): value is string {
  return token.safeParse(value).success;
}

/** Undefined for any text that is not stored tokens. Keys of a later version are ignored. */
export function parseTokens(json: string): OAuthTokens | undefined {
  try {
    return schema.safeParse(JSON.parse(json.replace(/^\uFEFF/, ""))).data;
  } catch {
    return undefined;
  }
}

export function tokensText(tokens: OAuthTokens): string {
  return `${JSON.stringify(tokens)}\n`;
}

/** Each repeat means that a run has renewed the tokens before meanwhile. */
const ATTEMPTS = 5;

/** Throws `STORE_FAILED`, with the store's own remedy where it refuses. */
export async function storeAuthorized(store: TokenStore, tokens: OAuthTokens): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const { version } = await store.read();
    if ((await store.replace(version, tokens)) !== undefined) return;
  }
  throw new SyncError(
    "STORE_FAILED",
    `The tokens could not be stored in ${store.place}, because other processes changed it ${ATTEMPTS} times in the meantime.`,
    { next: advise`Stop them, and authorize again: ${command("authorize")}.` },
  );
}
