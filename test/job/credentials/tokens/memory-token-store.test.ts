// The token store in memory keeps the contract.

import { ManualClock } from "../../../simulator/manual-clock.ts";
import { MemoryTokenStore, TokenPlace } from "./memory-token-store.ts";
import { tokenStoreContract } from "./token-store-contract.ts";

tokenStoreContract("MemoryTokenStore", async () => {
  const place = new TokenPlace();
  const clock = new ManualClock(0);
  return {
    open: () => new MemoryTokenStore(place, clock),
    put: async (text) => place.store(text),
    passExpiry: () => clock.advance(60_000),
    versions: () => place.writes,
    [Symbol.asyncDispose]: async () => undefined,
  };
});
