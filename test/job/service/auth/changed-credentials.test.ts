// A password that is changed while a run is under way, or just before it logs in, needs no new run.

import { describe, expect, it } from "vitest";
import type { Method } from "../../../../lambdas/job/credentials/credentials.ts";
import {
  CurrentCredentials,
  type ServiceCredentials,
} from "../../../../lambdas/job/credentials/credentials.ts";
import { CANARY } from "../../../simulator/account.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { MemoryCredentials } from "../../credentials/memory-credentials.ts";
import { LogLines } from "../../runtime/log-lines.ts";
import { ALL_METHODS, type Connection, connect, errorOf, fetchAll, said, secrets } from "../connection.ts";

const NEW_PASSWORD = "new-canary-password";
/** The e-mail address and its password, or the client and its secret. */
const withSecret = (method: Method, secret: string): ServiceCredentials =>
  method === "oauth"
    ? { method, client_id: "brand-client", client_secret: secret }
    : { method, email: CANARY.email, password: secret };
const present = (method: Method): ServiceCredentials =>
  withSecret(method, method === "oauth" ? CANARY.clientSecret : CANARY.password);
const changed = (method: Method): ServiceCredentials => withSecret(method, NEW_PASSWORD);

/** A client that has read `read`, while `stored` is what a further reading gives. */
async function connected(
  method: Method,
  read: ServiceCredentials,
  stored: MemoryCredentials,
): Promise<Connection> {
  const service = { account: { password: NEW_PASSWORD }, events: makeEvents(20) };
  const identity = { client: { secret: NEW_PASSWORD } };
  const connection = await connect(service, {
    identity,
    credentials: read,
    method,
    stored,
  });
  connection.authorized.provider.endAccessTokens();
  return connection;
}

describe.each(ALL_METHODS)(
  "with the method $method, credentials that the service refuses",
  ({ method, refusal, credentialsSent }) => {
    it("are read again, and changed ones are used instead", async () => {
      const stored = new MemoryCredentials(changed(method));
      await using connection = await connected(method, present(method), stored);

      const { details } = await fetchAll(connection.service, 8);

      expect(details.size).toBe(20);
      expect(stored.reads).toBe(1);
      expect(connection.log.text).toContain("others have been stored since");
      expect(said(undefined, connection.log)).not.toContain(NEW_PASSWORD);
    });

    it("end the run when they have not changed, after one request in all", async () => {
      const stored = new MemoryCredentials(present(method));
      await using connection = await connected(method, present(method), stored);

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: refusal });
      expect(credentialsSent(connection)).toBe(1);
      expect(secrets.filter((secret) => said(error, connection.log).includes(secret))).toEqual([]);
    });

    it("end the run when the changed ones are refused too, after two requests in all", async () => {
      const stored = new MemoryCredentials(withSecret(method, "wrong too"));
      await using connection = await connected(method, present(method), stored);

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: refusal });
      expect(credentialsSent(connection)).toBe(2);
    });

    it("are known by the version that was refused, also when others are stored by then", async () => {
      const first = present(method);
      const stored = new MemoryCredentials(withSecret(method, "wrong too"));
      const service = { account: { password: NEW_PASSWORD } };
      const versionOf = (used: object): string => (used === first ? "first" : "second");
      await using connection = await connect(service, {
        identity: { client: { secret: NEW_PASSWORD } },
        credentials: first,
        stored: { read: () => stored.read(), versionOf },
      });
      connection.authorized.provider.endAccessTokens();

      const before = connection.service.credentialsVersion;
      await errorOf(connection.service.list());

      // With tokens their version belongs to it.
      const expected = method === "oauth" ? ["first v1", "second v1"] : ["first", "second"];
      expect([before, connection.service.credentialsVersion]).toEqual(expected);
    });

    it("end the run with the service's refusal when they cannot be read any more", async () => {
      const stored = new MemoryCredentials();
      await using connection = await connected(method, present(method), stored);

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: refusal });
    });

    it("end the run when another method is stored, which needs a new run", async () => {
      const stored = new MemoryCredentials(changed(method === "basic" ? "session" : "basic"));
      await using connection = await connected(method, present(method), stored);

      await errorOf(connection.service.list());

      expect(credentialsSent(connection)).toBe(1);
    });

    it("are not read again while the service accepts them", async () => {
      const stored = new MemoryCredentials(changed(method));
      await using connection = await connected(method, changed(method), stored);

      await fetchAll(connection.service, 8);

      expect(stored.reads).toBe(0);
    });

    it("are not read again for an error that is no refusal", async () => {
      const stored = new MemoryCredentials(changed(method));
      await using connection = await connected(method, present(method), stored);
      const fault = { kind: "status", status: 418 } as const;
      connection.simulator.configure({ faults: [{ match: {}, fault }] });

      await errorOf(connection.service.list());

      expect(stored.reads).toBe(0);
    });

    it("in the middle of a run are changed once for all requests under way", async () => {
      const stored = new MemoryCredentials(changed(method));
      await using connection = await connected(method, changed(method), stored);
      const { service, simulator } = connection;
      await service.list();
      const password = "newest-canary-password";
      stored.store(JSON.stringify(withSecret(method, password)));
      simulator.configure({ account: { password } });
      connection.authorized.provider.configure({ client: { secret: password } });
      simulator.endSessions();

      const { details } = await fetchAll(service, 8);

      expect(details.size).toBe(20);
      expect(stored.reads).toBe(1);
      if (method !== "basic") expect(credentialsSent(connection)).toBe(3);
    });
  },
);

describe("credentials that were refused", () => {
  const OLD = withSecret("basic", "old");

  it("have not changed where there is no place to read them again", async () => {
    const inUse = new CurrentCredentials(OLD, undefined, new LogLines());

    expect(await inUse.haveChanged()).toBe(false);
  });

  it("let an unexpected error through", async () => {
    const defect = new RangeError("defect");
    const inUse = new CurrentCredentials(OLD, () => Promise.reject(defect), new LogLines());

    await expect(inUse.haveChanged()).rejects.toBe(defect);
  });
});
