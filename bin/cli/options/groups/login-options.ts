// The options that say how an account logs in, and those of the authorization in a browser.

import { filledText, loginMethod, switchValue } from "../option-parsers.ts";
import { redirectAddress } from "../redirect-address.ts";

export const BROWSER_OPTIONS = {
  redirectUri: {
    flag: "--redirect-uri <url>",
    description: "where the identity provider sends the browser, as the operator has registered it",
    fallback: "http://127.0.0.1:8912/callback",
    parse: redirectAddress,
  },
  noBrowser: {
    flag: "--no-browser",
    description: "only print the address to open",
    fallback: "false",
    parse: switchValue,
  },
  paste: {
    flag: "--paste",
    description: "read the address that the browser ended at from standard input, instead of listening",
    fallback: "false",
    parse: switchValue,
  },
} as const;

/** Of `init` alone. */
export const LOGIN_OPTIONS = {
  method: {
    flag: "--method <method>",
    description: "how the account logs in: session, basic or oauth",
    parse: loginMethod,
  },
  email: {
    flag: "--email <address>",
    description: "the account's e-mail address; its password never is an option",
    parse: filledText,
  },
  clientId: {
    flag: "--client-id <id>",
    description: "client_id of the method oauth; its secret never is an option",
    parse: filledText,
  },
} as const;
