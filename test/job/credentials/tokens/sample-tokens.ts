// Tokens for tests of the stores.

import type { OAuthTokens } from "../../../../lambdas/job/credentials/tokens/token-store.ts";

export function sampleTokens(name: string, changes: Partial<OAuthTokens> = {}): OAuthTokens {
  return {
    format: 1,
    client_id: "brand-client",
    access_token: `access-${name}`,
    refresh_token: `refresh-${name}`,
    token_type: "Bearer",
    obtained_at: "2026-11-21T06:00:00.000Z",
    ...changes,
  };
}
