// Turns a JSON Pointer (RFC 6901) into its reference tokens and back.

import { shownText } from "../errors/shown-text.ts";
import { SyncError } from "../errors/sync-error.ts";

/** The decoded reference tokens; none for `""`, the whole document. Throws `CONFIG_INVALID`, because users write pointers. */
export function parsePointer(pointer: string): readonly string[] {
  if (pointer === "") return [];
  // RFC 6901 §3: every reference token is prefixed by a slash.
  if (!pointer.startsWith("/")) throw invalid(pointer, 'it must be empty or begin with "/"');
  return pointer
    .slice(1)
    .split("/")
    .map((token) => decode(token, pointer));
}

export function formatPointer(tokens: readonly string[]): string {
  return tokens.map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

// RFC 6901 §4: "~1" first, then "~0", so that "~01" becomes "~1" and not "/".
function decode(token: string, pointer: string): string {
  if (/~(?![01])/.test(token)) throw invalid(pointer, '"~" must be followed by 0 (for "~") or 1 (for "/")');
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

function invalid(pointer: string, problem: string): SyncError {
  return new SyncError("CONFIG_INVALID", `${shownText(pointer)} is not a JSON Pointer: ${problem}.`, {
    fields: { pointer },
  });
}
