// What a response with what was asked for says, beside it, of a failure: a part of it may be missing.

import { formatPointer, isObject } from "../../json/json-pointers.ts";
import type { ShownName } from "./shape.ts";

/**
 * The place where the outermost object of a response, beside what was asked for, says that the service could not make all of
 * it; undefined if it does not.
 */
export function failureIn(body: unknown, shownName: ShownName): string | undefined {
  const found = Object.entries(isObject(body) ? body : {}).find(([key, value]) => {
    const name = key.replaceAll(/[^a-z]/gi, "").toLowerCase();
    if (name === "success") return value === false;
    if (name === "status") return /^(?:error|failed|failure)$/i.test(String(value));
    return (name === "error" || name === "errors") && typeof value !== "boolean" && isFilled(value);
  });
  return found && formatPointer([shownName(found[0])]);
}

/** An error that is no error has nothing in it. */
export function isFilled(value: unknown): boolean {
  if (typeof value === "object") return value !== null && Object.keys(value).length > 0;
  return Boolean(value);
}
