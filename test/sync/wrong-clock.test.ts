// A head in the future in AWS, where the clock is right: the command of the error, the mail, and what it starts.

import { expect, test } from "vitest";
import { formatRunId } from "../../lambdas/job/storage/layout.ts";
import { createRemoval } from "../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { realClock, settableClock } from "../simulator/clocks.ts";
import { FunctionSandbox } from "./function-sandbox.ts";

const DAY_MS = 24 * 60 * 60_000;

test("a run and its mail name the command, whose input publishes; the service's clock does not matter", async () => {
  const clock = settableClock(realClock());
  clock.set(-10 * DAY_MS);
  await using sandbox = await FunctionSandbox.start({ clock });
  const atMs = sandbox.clock.now() + DAY_MS;
  await createRemoval(accountStore(sandbox.store, "uk"), { runId: formatRunId(atMs), atMs, writeId: "1" });

  const failure = await sandbox.invoke({}).catch((error: unknown) => error);
  const mail = sandbox.events.at(-1);
  const [, payload = ""] = / --payload (\S+) \/dev\/stdout/.exec(JSON.stringify(mail?.detail["mail"])) ?? [];
  const input: unknown = JSON.parse(Buffer.from(payload, "base64").toString());
  const pasted = await sandbox.invoke(input);
  const plain = await sandbox.invoke({});

  expect(failure).toMatchObject({
    name: "CLOCK_WRONG",
    message: expect.stringContaining('"trustClock":true'),
  });
  expect(input).toEqual({ action: "run", account: "uk", trustClock: true });
  expect(mail).toMatchObject({
    detailType: "Run Failed",
    detail: { error_code: "CLOCK_WRONG", finished: true },
  });
  expect(sandbox.metrics[0]).toMatchObject({ values: { Failed: 1 } });
  expect([pasted, plain]).toMatchObject([{ outcome: "PUBLISHED" }, { outcome: "PUBLISHED" }]);
  expect(sandbox.log.text).not.toContain("and the service's");
});
