// What everything promises that keeps an account's credentials (lambdas/job/credentials/credentials.ts).

import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { Credentials } from "../../../lambdas/job/credentials/credentials.ts";
import { told } from "../../words/said.ts";

export interface CredentialsWorld {
  readonly credentials: Credentials;
  /** Puts this text where the credentials are kept. */
  store(text: string): Promise<void>;
}

const SESSION = { method: "session", email: "a@b.test", password: "p" };
const BASIC = { method: "basic", email: "a@b.test", password: "other" };

export function credentialsContract(name: string, make: () => Promise<CredentialsWorld>): void {
  describe(`${name} as credentials`, () => {
    it("gives what is stored", async () => {
      const { credentials, store } = await make();

      await store(JSON.stringify(SESSION));

      expect(await credentials.read()).toEqual(SESSION);
    });

    it("gives what is stored now, whatever it gave before", async () => {
      const { credentials, store } = await make();
      await store(JSON.stringify(SESSION));
      await credentials.read();

      await store(JSON.stringify(BASIC));

      expect(await credentials.read()).toEqual(BASIC);
    });

    it("is CREDENTIALS_INVALID where nothing is stored yet", async () => {
      const { credentials } = await make();

      await expect(credentials.read()).rejects.toMatchObject({ code: "CREDENTIALS_INVALID" });
    });

    it.each([
      " ",
      '{"method":"session","email":"SECRET-1","password":"SECRET-2"',
      '{"method":"session","email":"SECRET-1","password":"SECRET-2","SECRET-3":1}',
    ])("is CREDENTIALS_INVALID for %j, says what is expected and repeats nothing", async (text) => {
      const { credentials, store } = await make();
      await store(text);

      const error = await credentials.read().then(
        () => undefined,
        (reason: unknown) => reason,
      );

      expect(told(error)).toMatchObject({
        code: "CREDENTIALS_INVALID",
        message: expect.stringContaining('{"method":"session","email":"…","password":"…"}'),
      });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("SECRET");
    });
  });
}
