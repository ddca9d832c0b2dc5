import { expect, it } from "vitest";
import {
  CurrentCredentials,
  type ServiceCredentials,
} from "../../../../lambdas/job/credentials/credentials.ts";
import { MemoryCredentials } from "../../credentials/memory-credentials.ts";
import { LogLines } from "../../runtime/log-lines.ts";

const withPassword = (password: string): ServiceCredentials => ({
  method: "basic",
  email: "a@b.test",
  password,
});

/** In use: "old"; stored: "new". */
function setUp() {
  const stored = new MemoryCredentials(withPassword("new"));
  const inUse = new CurrentCredentials(withPassword("old"), () => stored.read(), new LogLines());
  return { stored, inUse };
}

it("are those that are stored now, if they are others", async () => {
  const { stored, inUse } = setUp();

  expect(await inUse.haveChanged()).toBe(true);
  expect(inUse.current).toEqual(withPassword("new"));
  expect(stored.reads).toBe(1);
});

it("are read again when the changed ones are refused too", async () => {
  const { stored, inUse } = setUp();
  await inUse.haveChanged();

  expect(await inUse.haveChanged()).toBe(false);
  expect(stored.reads).toBe(2);
});

it("have not changed if they cannot be read again", async () => {
  const inUse = new CurrentCredentials(withPassword("old"), undefined, new LogLines());

  expect(await inUse.haveChanged()).toBe(false);
});

it("let an unexpected error through", async () => {
  const defect = new RangeError("defect");
  const inUse = new CurrentCredentials(withPassword("old"), () => Promise.reject(defect), new LogLines());

  await expect(inUse.haveChanged()).rejects.toBe(defect);
});
