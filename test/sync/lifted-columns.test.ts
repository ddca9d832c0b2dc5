// A deployment that names no lifted columns uses those of the warehouse.

import { expect, test } from "vitest";
import { readManifest } from "../../lambdas/job/snapshot/files/manifest.ts";
import { readHead } from "../../lambdas/job/storage/publication-log.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { environmentOf, functionFileText, readEnvironment } from "../../lambdas/sync/environment.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { FunctionSandbox } from "./function-sandbox.ts";

test("a deployment without lifted columns keeps those that are there", async () => {
  await using sandbox = await FunctionSandbox.start({ events: makeEvents(3) });
  const lifted = [{ name: "brand", pointer: "/name" }];
  const variables = environmentOf({
    bucket: "bucket",
    bucketOwner: "123456789012",
    database: "brand_events",
    workgroup: "analysis",
    secretName: "secret-of-{account}",
  });
  const account = { baseUrl: sandbox.simulator.url, requestsPerMinute: "unlimited" } as const;
  const file = functionFileText({ accounts: { uk: account }, lifted });
  await sandbox.invoke({}, { environment: readEnvironment(variables, file) });

  const response = await sandbox.invoke({});

  expect(response).toMatchObject({ outcome: "PUBLISHED" });
  const head = await readHead(accountStore(sandbox.store, "uk"));
  expect(head?.publication).toBe("0000000002");
  expect((await readManifest(accountStore(sandbox.store, "uk"), head?.snapshot_id ?? "")).lifted).toEqual(
    lifted,
  );
});
