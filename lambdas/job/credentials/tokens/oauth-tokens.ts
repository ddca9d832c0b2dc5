// The tokens of one OAuth authorization, as they are stored: no client secret, no word of the person who granted it.

import * as z from "zod";

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
