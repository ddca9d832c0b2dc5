// What commands need of a warehouse, wherever it is.

import type { Catalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { DirectoryStore } from "../../../lambdas/job/storage/directory/directory-store.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

export interface Warehouse {
  readonly store: Store;
  readonly catalog: Catalog;
  /** The store, where runs delete old staged files themselves; in a bucket a lifecycle rule does. */
  readonly directory?: DirectoryStore;
}
