// Which listed files may be deleted: those that the layout makes, and none behind a link that may lead to other people's
// files.

import type { Logger } from "../runtime/logger.ts";
import { isOfLayout } from "./layout.ts";
import type { StoredKey } from "./store.ts";

/** Says so for one file after the other, and names each link that keeps one from being deleted once. */
export function deletable(logger: Pick<Logger, "warn">): (file: StoredKey) => boolean {
  const named = new Set<string>();
  return ({ key, refusedLink }) => {
    if (refusedLink !== undefined && !named.has(refusedLink)) {
      named.add(refusedLink);
      logger.warn(refusedText(refusedLink));
    }
    return refusedLink === undefined && isOfLayout(key);
  };
}

export function refusedText(link: string): string {
  return `Nothing is deleted or replaced behind the link ${link}: it does not belong to the owner of what it leads to. Remove the link, or let that owner make it.`;
}
