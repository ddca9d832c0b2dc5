// 200 renewals by several processes and accounts on one place of tokens, in every kind of store: never a lost token.

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FileTokenStore } from "../../../../../lambdas/job/credentials/tokens/file-token-store.ts";
import { SecretsManagerTokenStore } from "../../../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import {
  storeAuthorized,
  type TokenStore,
} from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import { SecretsServer } from "../../../../aws/secrets-server.ts";
import { acceleratedClock } from "../../../../simulator/clocks.ts";
import { temporaryDirectory } from "../../../storage/directory/temporary-directory.ts";
import { RotationWorld } from "./rotation-world.ts";

const RENEWALS = 200;
const PROCESSES = 4;
/** A process that waits looks again every 25 ms. */
const SPEED = 20;
const NAME = "tokens-of-uk";

type Open = () => TokenStore;

const places: readonly {
  readonly name: string;
  readonly open: (world: RotationWorld<Clock>, stack: AsyncDisposableStack) => Promise<Open>;
}[] = [
  { name: "memory", open: async (world) => () => world.store() },
  {
    name: "a file",
    open: async () => {
      const file = join(await temporaryDirectory(), "uk.tokens.json");
      return () => new FileTokenStore({ file });
    },
  },
  {
    name: "Secrets Manager",
    open: async ({ clock }, stack) => {
      const server = stack.use(await SecretsServer.start());
      server.create(NAME);
      const client = server.client();
      stack.defer(() => client.destroy());
      return () => new SecretsManagerTokenStore({ client, secretId: NAME, clock });
    },
  },
];

describe.each(places)("tokens in $name", ({ open }) => {
  it(`survive ${RENEWALS} renewals by ${PROCESSES} processes of two accounts`, async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await RotationWorld.startWith(acceleratedClock(SPEED)));
    const openStore = await open(world, stack);
    const { provider, place } = world.authorized;
    if (place.tokens) await storeAuthorized(openStore(), place.tokens);
    let renewals = 0;

    const work = async (): Promise<void> => {
      const rotation = world.process({ store: openStore() });
      while (renewals < RENEWALS) {
        const { isRenewed } = await world.renewOnce(rotation);
        if (isRenewed) renewals += 1;
      }
    };
    await Promise.all(Array.from({ length: PROCESSES }, work));

    const stored = await openStore().read();
    expect(provider.counts).toMatchObject({
      refreshes: renewals,
      spentTokensSeen: 0,
      revokedFamilies: 0,
      maxTokenRequestsInFlight: 1,
    });
    expect(stored.tokens && provider.admits(stored.tokens.access_token)).toBe(true);
  });
});
