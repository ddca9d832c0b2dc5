// The short code of an error of a connection. Its message is dropped, because it may quote what was received: of it only
// constants of OpenSSL and of the HTTP parser are used.

import errors from "undici/lib/core/errors.js";
import { codeOf } from "../../errors/sync-error.ts";
import { NoResponse } from "./transport.ts";

/** Programming errors, not network errors: a retry cannot succeed. */
const PROGRAMMING_ERRORS: ReadonlySet<string> = new Set([
  "UND_ERR_INVALID_ARG",
  "UND_ERR_INVALID_RETURN_VALUE",
  "UND_ERR_NOT_SUPPORTED",
  "UND_ERR_DESTROYED",
  "UND_ERR_CLOSED",
]);

/** Node.js has no code for these reasons of OpenSSL to refuse a certificate. */
const WEAK_CERTIFICATES: Readonly<Record<string, string>> = {
  "EE certificate key too weak": "EE_KEY_TOO_SMALL",
  "CA certificate key too weak": "CA_KEY_TOO_SMALL",
  "CA signature digest algorithm too weak": "CA_MD_TOO_WEAK",
};

/** Undefined for a programming error. @param proxy the one that the connection is to */
export function noResponseOf(error: unknown, proxy?: string): NoResponse | undefined {
  if (error instanceof NoResponse) return error;
  if (error instanceof errors.HTTPParserError) {
    const says = /\(([A-Z][\w ,.'`/-]{0,80})\)$/.exec(error.message)?.[1];
    return new NoResponse(parserCode(says), proxy, says);
  }
  const code = codeOf(error);
  if (code === undefined || PROGRAMMING_ERRORS.has(code) || code.startsWith("ERR_INVALID_")) return undefined;
  if (error instanceof errors.SocketError) return new NoResponse("CONNECTION_LOST", proxy);
  const weak =
    code === "UNSPECIFIED" && error instanceof Error ? WEAK_CERTIFICATES[error.message] : undefined;
  return new NoResponse(weak ?? code, proxy);
}

/** What llhttp says, and its code for that, which undici loses. */
const PARSER_CODES: readonly (readonly [says: RegExp, code: string])[] = [
  [/^Expected HTTP\//, "NOT_HTTP"],
  [
    / header (?:token|field char|value char)$|^Unexpected whitespace after header/,
    "HPE_INVALID_HEADER_TOKEN",
  ],
  [/^Unexpected space/, "HPE_UNEXPECTED_SPACE"],
  [/^Missing expected CR/, "HPE_CR_EXPECTED"],
  [/^Missing expected LF/, "HPE_LF_EXPECTED"],
  [/^Expected LF/, "HPE_STRICT"],
  [/Content-Length/, "HPE_INVALID_CONTENT_LENGTH"],
  [/chunk size$/, "HPE_INVALID_CHUNK_SIZE"],
  [/ status(?: code)?$/, "HPE_INVALID_STATUS"],
  [/ version$|^Expected dot$/, "HPE_INVALID_VERSION"],
];

function parserCode(says = ""): string {
  return PARSER_CODES.find(([text]) => text.test(says))?.[1] ?? "HPE_UNKNOWN";
}
