// The file of a part, while it is written.

import type { Store } from "../../storage/store.ts";
import { MAKE_AGAIN } from "./damaged.ts";
import { FileHash } from "./file-hash.ts";
import { PartBody } from "./part-body.ts";
import type { PartInfo, WrittenPart } from "./part-info.ts";
import { verifyPart } from "./verify-part.ts";

export class PartFile {
  readonly #store: Store;
  readonly #key: string;
  readonly #body = new PartBody();
  readonly #created: Promise<string | undefined>;
  readonly #hash = new FileHash();

  /** It appears in the store at its end. */
  constructor(store: Store, key: string) {
    this.#store = store;
    this.#key = key;
    this.#created = store.create(key, this.#body);
    const close = (): void => this.#body.close(); // a store may fail before it reads anything
    this.#created.then(close, close);
  }

  /** The store's error shows here, at the latest in `end`. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#hash.add(bytes);
    await this.#body.write(bytes);
    if (this.#body.isClosed) await this.#created;
  }

  /** @param info what was written; a file that exists already must hold the same, or this throws `STORE_CORRUPT` */
  async end(info: Omit<PartInfo, "file">): Promise<WrittenPart> {
    this.#body.end();
    const part = { file: this.#key.slice(this.#key.lastIndexOf("/") + 1), ...info };
    if ((await this.#created) !== undefined) return { ...part, stored: this.#hash.result() };
    return { ...part, stored: await verifyPart(this.#store, this.#key, part, { remedy: MAKE_AGAIN }) };
  }

  async abort(error: unknown): Promise<void> {
    this.#body.fail(error);
    await this.#created.catch(() => undefined);
  }
}
