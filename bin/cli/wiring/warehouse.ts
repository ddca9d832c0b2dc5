// What commands need of a warehouse, wherever it is.

import type { RemovableCatalog } from "../../../lambdas/job/catalog/catalog.ts";
import type { Store } from "../../../lambdas/job/storage/store.ts";

export interface Warehouse {
  readonly store: Store;
  readonly catalog: RemovableCatalog;
  /** Whether the storage deletes staged files itself after a time, as a bucket's lifecycle rule does. */
  readonly expiresByItself: boolean;
}
