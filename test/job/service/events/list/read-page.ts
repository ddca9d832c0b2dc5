// Reads a page of the list in pieces of a size.

import type { ListedEvent } from "../../../../../lambdas/job/service/event-service.ts";
import { ListReader } from "../../../../../lambdas/job/service/events/list/list-reader.ts";
import { paginationHints } from "../../../../../lambdas/job/service/events/list/listed-events.ts";

export interface ReadPage {
  readonly events: readonly ListedEvent[];
  readonly rejected: number;
  readonly hints: ReturnType<typeof paginationHints>;
}

export function readPage(
  bytes: Uint8Array,
  pointer?: readonly string[],
  pieceBytes = bytes.length,
): ReadPage {
  const reader = new ListReader(pointer);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.add(bytes.subarray(at, at + pieceBytes));
  const { entries, envelope } = reader.end();
  const { events, rejected, path } = entries;
  return { events: [...events], rejected, hints: paginationHints(envelope, path) };
}
