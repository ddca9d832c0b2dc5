// The options of `authorize` alone: how a person and the identity provider meet in a browser.

import { switchValue } from "./option-parsers.ts";
import { redirectAddress } from "./redirect-address.ts";

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
