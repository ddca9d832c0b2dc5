// The credentials of a new account: from options and the environment, and the rest from a person or standard input.

import { parseCredentials, type ServiceCredentials } from "../../../lambdas/job/credentials/credentials.ts";
import { SyncError } from "../../../lambdas/job/errors/sync-error.ts";
import { filledText, loginMethod } from "../options/option-parsers.ts";
import type { OptionValues } from "../options/options.ts";
import type { Answers } from "./answers.ts";
import type { GivenSecrets } from "./given-secrets.ts";

export type CredentialOptions = OptionValues<"method" | "email" | "clientId">;

export async function askCredentials(
  values: CredentialOptions,
  secrets: GivenSecrets,
  answers: Answers,
): Promise<ServiceCredentials> {
  const method = await answers.get(values.method, {
    name: "--method",
    words: "Method: session (recommended), basic or oauth",
    fallback: "session",
    parse: loginMethod,
  });
  if (method === "oauth") {
    const client_id = await answers.get(values.clientId, {
      name: "--client-id",
      words: "client_id",
      parse: filledText,
    });
    const client_secret = await answers.secret(secrets.clientSecret, {
      name: "BRAND_CLIENT_SECRET",
      words: "client_secret (not shown)",
      parse: filledText,
    });
    return parseCredentials(JSON.stringify({ method, client_id, client_secret }));
  }
  const email = await answers.get(values.email, {
    name: "--email",
    words: "E-mail address",
    parse: method === "basic" ? withoutColon : filledText,
  });
  const password = await answers.secret(secrets.password, {
    name: "BRAND_PASSWORD",
    words: "Password (not shown)",
    parse: filledText,
  });
  return parseCredentials(JSON.stringify({ method, email, password }));
}

function withoutColon(text: string): string {
  if (!text.includes(":")) return filledText(text);
  throw new SyncError("CONFIG_INVALID", "expected a text without a colon, because the method is basic");
}
