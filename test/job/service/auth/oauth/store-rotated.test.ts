// Renewed tokens are stored although the store fails for a moment or holds something else by then.

import { expect, it } from "vitest";
import { tokensText } from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import { SyncError } from "../../../../../lambdas/job/errors/sync-error.ts";
import { storeRotated } from "../../../../../lambdas/job/service/auth/oauth/token-rotation.ts";
import { ManualClock } from "../../../../simulator/manual-clock.ts";
import { MemoryTokenStore, TokenPlace } from "../../../credentials/tokens/memory-token-store.ts";
import { sampleTokens } from "../../../credentials/tokens/sample-tokens.ts";
import { errorOf } from "../../connection.ts";

const SPENT = sampleTokens("spent");
const ROTATED = sampleTokens("rotated");
const patient = { sleep: async () => undefined };

class FailingStore extends MemoryTokenStore {
  failures: number;

  constructor(place: TokenPlace, failures: number) {
    super(place, new ManualClock(0));
    this.failures = failures;
  }

  override async replace(...given: Parameters<MemoryTokenStore["replace"]>): Promise<string | undefined> {
    if (this.failures > 0) {
      this.failures -= 1;
      throw new SyncError("STORE_FAILED", "the disk is full");
    }
    return super.replace(...given);
  }
}

const spentIn = (place: TokenPlace) => ({ version: place.version ?? "", tokens: SPENT });

it.each([0, 1, 4])("a store that fails %i times has the tokens in the end", async (failures) => {
  const place = new TokenPlace(SPENT);
  const store = new FailingStore(place, failures);

  const kept = await storeRotated({ store, clock: patient }, spentIn(place), ROTATED);

  expect(kept).toEqual({ version: place.version, tokens: ROTATED });
  expect(place.tokens).toEqual(ROTATED);
});

it("a store that goes on failing ends the renewal with its own error", async () => {
  const place = new TokenPlace(SPENT);
  const store = new FailingStore(place, 5);

  const error = await errorOf(storeRotated({ store, clock: patient }, spentIn(place), ROTATED));

  expect(error).toMatchObject({ code: "STORE_FAILED", message: "the disk is full" });
  expect(place.tokens).toEqual(SPENT);
});

it.each([
  ["the spent tokens as another version", tokensText(SPENT)],
  ["nothing of use", "{}"],
])("a store that holds %s by then gets the tokens", async (_, text) => {
  const place = new TokenPlace(SPENT);
  const before = spentIn(place);
  place.store(text);

  const kept = await storeRotated({ store: new FailingStore(place, 0), clock: patient }, before, ROTATED);

  expect(kept.tokens).toEqual(ROTATED);
  expect(place.tokens).toEqual(ROTATED);
});

it("a store whose file was deleted meanwhile gets the tokens", async () => {
  const place = new TokenPlace(SPENT);
  const before = spentIn(place);
  place.text = undefined;

  await storeRotated({ store: new FailingStore(place, 0), clock: patient }, before, ROTATED);

  expect(place.tokens).toEqual(ROTATED);
});

it("a store that holds the tokens of another authorization by then keeps those, and they are used", async () => {
  const place = new TokenPlace(SPENT);
  const before = spentIn(place);
  place.store(tokensText(sampleTokens("authorized")));

  const kept = await storeRotated({ store: new FailingStore(place, 0), clock: patient }, before, ROTATED);

  expect(kept.tokens).toEqual(sampleTokens("authorized"));
  expect(place.tokens).toEqual(sampleTokens("authorized"));
});
