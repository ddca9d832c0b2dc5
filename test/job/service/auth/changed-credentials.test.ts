// A password that is changed while a run is under way, or just before it logs in, needs no new run.

import { describe, expect, it } from "vitest";
import { CANARY } from "../../../simulator/account.ts";
import { makeEvents } from "../../../simulator/simulated-event.ts";
import { MemoryCredentials } from "../../credentials/memory-credentials.ts";
import { type Connection, connect, errorOf, fetchAll, said, secrets } from "../connection.ts";

type Method = "session" | "basic";

const NEW_PASSWORD = "new-canary-password";
const present = (method: Method) => ({ method, email: CANARY.email, password: CANARY.password }) as const;
const changed = (method: Method) => ({ ...present(method), password: NEW_PASSWORD }) as const;

/** A client that has read `read`, while `stored` is what a further reading gives. */
async function connected(
  method: Method,
  read: ReturnType<typeof present | typeof changed>,
  stored: MemoryCredentials,
): Promise<Connection> {
  const service = { account: { password: NEW_PASSWORD }, events: makeEvents(20) };
  return connect(service, { credentials: read, method, readCredentials: () => stored.read() });
}

describe.each(["session", "basic"] as const)(
  "with the method %s, credentials that the service refuses",
  (method) => {
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

      expect(error).toMatchObject({ code: method === "session" ? "LOGIN_REFUSED" : "UNAUTHENTICATED" });
      expect(connection.simulator.counts.requests).toBe(1);
      expect(secrets.filter((secret) => said(error, connection.log).includes(secret))).toEqual([]);
    });

    it("end the run when the changed ones are refused too, after two requests in all", async () => {
      const stored = new MemoryCredentials({ ...present(method), password: "wrong too" });
      await using connection = await connected(method, present(method), stored);

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: method === "session" ? "LOGIN_REFUSED" : "UNAUTHENTICATED" });
      expect(connection.simulator.counts.requests).toBe(2);
    });

    it("are known by the version that was refused, also when others are stored by then", async () => {
      const first = present(method);
      const stored = new MemoryCredentials({ ...first, password: "wrong too" });
      const service = { account: { password: NEW_PASSWORD } };
      const versionOf = (used: object): string => (used === first ? "first" : "second");
      await using connection = await connect(service, {
        credentials: first,
        readCredentials: () => stored.read(),
        versionOf,
      });

      const before = connection.service.credentialsVersion;
      await errorOf(connection.service.list());

      expect([before, connection.service.credentialsVersion]).toEqual(["first", "second"]);
    });

    it("end the run with the service's refusal when they cannot be read any more", async () => {
      const stored = new MemoryCredentials();
      await using connection = await connected(method, present(method), stored);

      const error = await errorOf(connection.service.list());

      expect(error).toMatchObject({ code: method === "session" ? "LOGIN_REFUSED" : "UNAUTHENTICATED" });
    });

    it("end the run when another method is stored, which needs a new run", async () => {
      const stored = new MemoryCredentials(changed(method === "session" ? "basic" : "session"));
      await using connection = await connected(method, present(method), stored);

      await errorOf(connection.service.list());

      expect(connection.simulator.counts.requests).toBe(1);
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
      stored.store(JSON.stringify({ ...changed(method), password }));
      simulator.configure({ account: { password } });
      simulator.endSessions();

      const { details } = await fetchAll(service, 8);

      expect(details.size).toBe(20);
      expect(stored.reads).toBe(1);
      expect(simulator.counts.logins).toBe(method === "session" ? 3 : 0);
    });
  },
);
