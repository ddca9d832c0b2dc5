// Real processes that renew tokens side by side and are killed in the middle, and 200 renewals on every kind of store.

import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import { FileTokenStore } from "../../../../../lambdas/job/credentials/tokens/file-token-store.ts";
import { SecretsManagerTokenStore } from "../../../../../lambdas/job/credentials/tokens/secrets-manager-token-store.ts";
import {
  storeAuthorized,
  type TokenStore,
} from "../../../../../lambdas/job/credentials/tokens/token-store.ts";
import type { Clock } from "../../../../../lambdas/job/runtime/clock.ts";
import { SecretsServer } from "../../../../aws/secrets-server.ts";
import { type Started, start } from "../../../../cli/command-line.ts";
import { acceleratedClock, realClock } from "../../../../simulator/clocks.ts";
import type { IdentityProvider } from "../../../../simulator/identity/identity-provider.ts";
import type { IdentityChange } from "../../../../simulator/identity/identity-settings.ts";
import { seededRandom } from "../../../../simulator/seeded-random.ts";
import { temporaryDirectory } from "../../../storage/directory/temporary-directory.ts";
import { Authorized } from "./authorized.ts";
import { RotationWorld } from "./rotation-world.ts";

const PROGRAM = fileURLToPath(new URL("renewing-process.ts", import.meta.url));
const KILLS = 20;

interface FileWorld extends AsyncDisposable {
  readonly provider: IdentityProvider;
  readonly store: FileTokenStore;
  renewing(times: number): Started;
  authorize(): Promise<void>;
}

async function fileWorld(identity: IdentityChange): Promise<FileWorld> {
  const cwd = await temporaryDirectory();
  const file = join(cwd, "uk.tokens.json");
  const authorized = await Authorized.start(realClock(), identity);
  const { provider, place } = authorized;
  const store = new FileTokenStore({ file });
  const authorize = async (): Promise<void> => {
    authorized.authorizeAgain();
    if (place.tokens) await storeAuthorized(store, place.tokens);
  };
  await authorize();
  const { client_id, client_secret } = provider.credentials;
  const args = ["--file", file, "--url", provider.url, "--id", client_id, "--secret", client_secret];
  return {
    provider,
    store,
    authorize,
    renewing: (times) => start(PROGRAM, [...args, "--times", String(times)], { cwd }),
    [Symbol.asyncDispose]: () => provider.stop(),
  };
}

/** Kills the process some milliseconds after it began to renew. */
async function killed({ process, ended }: Started, afterMs: number): Promise<void> {
  if (process.stdout) await once(process.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  process.kill("SIGKILL");
  await ended;
}

const lastLine = ({ stdout }: { readonly stdout: string }): string =>
  stdout.trimEnd().split("\n").at(-1) ?? "";

test(`a process that is killed ${KILLS} times in the middle of its renewals loses no token`, async () => {
  await using world = await fileWorld({ latencyMs: 5, refreshToken: { graceMs: 600_000 } });
  const random = seededRandom(1);

  for (let n = 0; n < KILLS; n += 1) await killed(world.renewing(1_000), random() * 60);
  const last = await world.renewing(2).ended;

  expect(lastLine(last)).toBe("renewed");
  expect(world.provider.counts.revokedFamilies).toBe(0);
  expect(await world.store.read()).toMatchObject({ tokens: { format: 1 } });
}, 120_000);

test(`without a time of grace each of ${KILLS / 2} kills leaves working tokens, or AUTHORIZATION_EXPIRED`, async () => {
  await using world = await fileWorld({ latencyMs: 5 });
  const random = seededRandom(2);
  const ends: string[] = [];

  for (let n = 0; n < KILLS / 2; n += 1) {
    await killed(world.renewing(1_000), random() * 60);
    const end = lastLine(await world.renewing(1).ended);
    ends.push(end);
    if (end === "AUTHORIZATION_EXPIRED") await world.authorize();
  }

  expect(ends.filter((end) => end !== "renewed" && end !== "AUTHORIZATION_EXPIRED")).toEqual([]);
  expect(ends).toContain("renewed");
  expect(lastLine(await world.renewing(1).ended)).toBe("renewed");
}, 180_000);

test("two processes that renew side by side 100 times each never send a spent token", async () => {
  await using world = await fileWorld({});

  const ended = await Promise.all([world.renewing(100).ended, world.renewing(100).ended]);

  expect(ended.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  expect(ended.map(({ stdout }) => /[A-Z]{3}/.exec(stdout)?.[0])).toEqual([undefined, undefined]);
  expect(world.provider.counts).toMatchObject({
    spentTokensSeen: 0,
    revokedFamilies: 0,
    maxTokenRequestsInFlight: 1,
  });
}, 120_000);

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
