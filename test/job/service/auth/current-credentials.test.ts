import { expect, it } from "vitest";
import type { ServiceCredentials } from "../../../../lambdas/job/credentials/credentials.ts";
import { CurrentCredentials } from "../../../../lambdas/job/service/auth/current-credentials.ts";
import { MemoryCredentials } from "../../credentials/memory-credentials.ts";
import { LogLines } from "../../runtime/log-lines.ts";

const withPassword = (password: string): ServiceCredentials => ({
  method: "basic",
  email: "a@b.test",
  password,
});

/** In use: "old"; stored: "new". */
function setUp() {
  const old = withPassword("old");
  const stored = new MemoryCredentials(withPassword("new"));
  return { old, stored, inUse: new CurrentCredentials(old, () => stored.read(), new LogLines()) };
}

it("are read once for concurrent calls", async () => {
  const { old, stored, inUse } = setUp();

  const results = await Promise.all([inUse.haveChangedSince(old), inUse.haveChangedSince(old)]);

  expect(results).toEqual([true, true]);
  expect(inUse.current).toEqual(withPassword("new"));
  expect(stored.reads).toBe(1);
});

it("are not read for a late refusal of older ones", async () => {
  const { old, stored, inUse } = setUp();
  await inUse.haveChangedSince(old);

  expect(await inUse.haveChangedSince(old)).toBe(true);
  expect(stored.reads).toBe(1);
});

it("are read again when the changed ones are refused too", async () => {
  const { old, stored, inUse } = setUp();
  await inUse.haveChangedSince(old);

  expect(await inUse.haveChangedSince(inUse.current)).toBe(false);
  expect(stored.reads).toBe(2);
});

it("have not changed if they cannot be read again", async () => {
  const old = withPassword("old");

  expect(await new CurrentCredentials(old, undefined, new LogLines()).haveChangedSince(old)).toBe(false);
});

it("let an unexpected error through", async () => {
  const old = withPassword("old");
  const defect = new RangeError("defect");
  const inUse = new CurrentCredentials(old, () => Promise.reject(defect), new LogLines());

  await expect(inUse.haveChangedSince(old)).rejects.toBe(defect);
});
