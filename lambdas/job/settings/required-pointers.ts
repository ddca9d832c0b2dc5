// The required fields of a detail: JSON Pointers (RFC 6901) to parts of it.

import * as z from "zod";
import { parsePointer } from "../json/json-document.ts";
import { text } from "./value-schemas.ts";

/** Not the detail itself, which every event has. */
const pointer = text("expected a JSON Pointer to a part of the detail, such as /date", (value) => {
  try {
    return parsePointer(value).length > 0;
  } catch {
    return false;
  }
});

export const requiredPointers = z
  .array(pointer, 'expected the required fields as a list of JSON Pointers, such as ["/date", "/brand/name"]')
  .readonly();
