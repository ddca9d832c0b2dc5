// Uploads in parts: a process that ends by itself has completed or aborted its own; what a dead one has left is never needed.

import type { Model } from "./model.ts";

/**
 * An upload stays open where S3 refused to abort it, its maker never learned of it, or had a request about it under way
 * when another one failed: the bucket's rule aborts that.
 */
export function checkUploads(model: Model, process: string): void {
  const { world, account } = model;
  const left = world.uploads.open.find(
    ({ key, by, isKnown, isGivenUp, underWay }) =>
      by === process && isKnown && !isGivenUp && underWay === 0 && key.split("/")[1] === account.name,
  );
  if (left) model.fail(`${process} ends, and leaves the upload of ${left.key} open`);
}
