// Uploads in parts: a process that ends by itself has completed or aborted its own; what a dead one has left is never needed.

import type { Model } from "./model.ts";

/** An upload stays open where S3 refused to abort it, or its maker never learned of it: the bucket's rule aborts that. */
export function checkUploads(model: Model, process: string): void {
  const { world, account } = model;
  const left = world.uploads.open.find(
    ({ key, by, isKnown, isGivenUp }) =>
      by === process && isKnown && !isGivenUp && key.split("/")[1] === account.name,
  );
  if (left) model.fail(`${process} ends, and leaves the upload of ${left.key} open`);
}
