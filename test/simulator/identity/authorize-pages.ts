// The pages that a person sees at the simulated identity provider.

import type { SimulatedResponse } from "../simulated-response.ts";

export const loginPage = (transaction: string, problem?: string): SimulatedResponse =>
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

export const consentPage = (transaction: string): SimulatedResponse =>
  page(
    "Allow access?",
    `<p>An application asks for access to your brand data.</p>
<form method="post" action="/oauth/authorize">
<input type="hidden" name="transaction" value="${transaction}">
<p><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  );

/** RFC 6749 §4.1.2.1: a wrong client or redirect address is told to the person, and the browser is not sent on. */
export const refusalPage = (reason: string): SimulatedResponse =>
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
