// {auth_url}/oauth/authorize: login, consent, and the way back (docs/service-interface.md §3.4).

import { randomUUID } from "node:crypto";
import type { SimulatedResponse } from "../simulated-response.ts";
import type { AuthorizationRequest, Grants } from "./grants.ts";
import type { IdentitySettings } from "./identity-settings.ts";

interface Transaction {
  readonly request: AuthorizationRequest;
  isLoggedIn: boolean;
}

export class AuthorizeEndpoint {
  readonly #transactions = new Map<string, Transaction>();
  readonly #grants: Grants;

  constructor(grants: Grants) {
    this.#grants = grants;
  }

  /** A GET asks for the authorization. */
  ask(query: URLSearchParams, settings: IdentitySettings): SimulatedResponse {
    const redirectUri = query.get("redirect_uri") ?? "";
    if (query.get("client_id") !== settings.client.id) return refusalPage("The client is not known.");
    if (!settings.client.redirectUris.includes(redirectUri)) {
      return refusalPage("The redirect address is not registered for this client.");
    }
    const echoed = settings.extras === "checks" ? query.get("state") : null;
    const request = {
      clientId: settings.client.id,
      redirectUri,
      ...(echoed === null ? {} : { state: echoed }),
    };
    const wrong = wrongParameter(query, settings);
    if (wrong !== undefined) return sendBack(request, { error: wrong });
    const challenge = settings.extras === "checks" ? query.get("code_challenge") : null;
    const id = randomUUID();
    this.#transactions.set(id, {
      request: challenge === null ? request : { ...request, codeChallenge: challenge },
      isLoggedIn: false,
    });
    return loginPage(id);
  }

  /** A POST is one of the pages' forms. */
  submit(form: URLSearchParams, settings: IdentitySettings, nowMs: number): SimulatedResponse {
    const id = form.get("transaction") ?? "";
    const transaction = this.#transactions.get(id);
    if (transaction === undefined) return refusalPage("This login is over. Begin again.");
    if (!transaction.isLoggedIn) {
      const { email, password } = settings.user;
      transaction.isLoggedIn = form.get("email") === email && form.get("password") === password;
      return transaction.isLoggedIn ? consentPage(id) : loginPage(id, "E-mail or password is wrong.");
    }
    this.#transactions.delete(id);
    return form.get("decision") === "allow"
      ? sendBack(transaction.request, { code: this.#grants.code(transaction.request, nowMs) })
      : sendBack(transaction.request, { error: "access_denied" });
  }
}

/** The `error` of RFC 6749 §4.1.2.1. */
const wrongParameter = (query: URLSearchParams, { extras }: IdentitySettings): string | undefined => {
  if (query.get("response_type") !== "code") return "unsupported_response_type";
  if (query.get("scope") !== "brandindex") return "invalid_scope";
  if (extras === "ignores" || !query.has("code_challenge")) return undefined;
  const isChallenge = /^[\w-]{43}$/.test(query.get("code_challenge") ?? "");
  return isChallenge && query.get("code_challenge_method") === "S256" ? undefined : "invalid_request";
};

const sendBack = (
  { redirectUri, state }: AuthorizationRequest,
  answer: Readonly<Record<string, string>>,
): SimulatedResponse => {
  const location = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) location.searchParams.set(name, value);
  if (state !== undefined) location.searchParams.set("state", state);
  return {
    status: 302,
    headers: { location: location.href, "cache-control": "no-store", "referrer-policy": "no-referrer" },
    body: "",
  };
};

/** What a person sees. */
const loginPage = (transaction: string, problem?: string): SimulatedResponse =>
  page(
    "Log in",
    `${problem === undefined ? "" : `<p role="alert">${problem}</p>`}
<form method="post" action="/oauth/authorize">
<input type="hidden" name="transaction" value="${transaction}">
<p><label>E-mail <input name="email" type="email" autocomplete="username" required autofocus></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Log in</button></p>
</form>`,
  );

const consentPage = (transaction: string): SimulatedResponse =>
  page(
    "Allow access?",
    `<p>An application asks for access to your brand data.</p>
<form method="post" action="/oauth/authorize">
<input type="hidden" name="transaction" value="${transaction}">
<p><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  );

/** RFC 6749 §4.1.2.1: a wrong client or redirect address is told to the person, and the browser is not sent on. */
const refusalPage = (reason: string): SimulatedResponse =>
  page("This request is refused", `<p>${reason}</p>`, 400);

const page = (title: string, body: string, status = 200): SimulatedResponse => ({
  status,
  headers: { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
  body: `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
${body}
</html>
`,
});
