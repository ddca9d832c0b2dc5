// What the catalog in Glue says when Glue refuses a call, and that it reads every page.

import { describe, expect, it } from "vitest";
import { GlueCatalog } from "../../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { systemClock } from "../../../../lambdas/job/runtime/clock.ts";
import { type Asked, AwsProxy, type Fault, jsonResponse } from "../../../aws/aws-proxy.ts";
import { newAwsClients } from "../../../aws/emulator.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { Publisher, snapshotOfDay } from "../publisher.ts";

const [FIRST, SECOND] = [snapshotOfDay(1), snapshotOfDay(2)];

/** A catalog that gets these responses from Glue, over a log with two publications. */
async function responding(fault: (asked: Asked) => Fault): Promise<[GlueCatalog, AwsProxy]> {
  const proxy = await AwsProxy.start();
  proxy.fault = fault;
  const store = new MemoryStore();
  const uk = new Publisher(store, "uk");
  await uk.day(1, ["a"]);
  await uk.day(2, ["b"]);
  const client = newAwsClients(proxy.url).glue;
  const clock = systemClock;
  return [new GlueCatalog({ client, store, database: "brand", location: "s3://bucket", clock }), proxy];
}

const respondWith = (content: object): Fault => ({ status: 200, body: JSON.stringify(content) });

describe("a refusal", () => {
  it.each([
    ["GetTable", "publications"],
    ["GetPartition", "publications"],
    ["BatchCreatePartition", "publications"],
    ["GetPartitions", "event_changes"],
    ["BatchDeletePartition", "event_snapshots"],
  ])("of %s is CATALOG_FAILED and names the permission", async (action, table) => {
    const Partitions = [{ Values: ["uk", "2025-01-01T00-00-00.000Z"] }];
    const [catalog, proxy] = await responding((asked) =>
      asked.action === `AWSGlue.${action}`
        ? jsonResponse("AccessDeniedException", "User x is not authorized")
        : respondWith({ Partitions }),
    );
    await using _ = proxy;

    await expect(catalog.refresh("uk")).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringMatching(
        new RegExp(
          `${action} on brand\\.${table} failed: AWS refuses it\\. Give this process glue:${action} .*Lake Formation.*User x is not authorized`,
        ),
      ),
      fields: { action, database: "brand", table, aws_error: "AccessDeniedException" },
    });
  });
});

describe("a catalog that is encrypted with a key of one's own", () => {
  const said = (action: string): string =>
    `User: arn:aws:sts::1:assumed-role/x is not authorized to perform: ${action} on resource: arn:aws:kms:eu-west-1:1:key/k`;

  it.each([
    ["GlueEncryptionException", said("kms:Decrypt"), "Give it kms:Decrypt on that key"],
    ["GlueEncryptionException", said("kms:GenerateDataKey"), "Give it kms:GenerateDataKey on that key"],
    ["AccessDeniedException", said("kms:Decrypt"), "Give it kms:Decrypt on that key"],
    [
      "GlueEncryptionException",
      "The key is disabled",
      "Give it kms:Decrypt and kms:GenerateDataKey on that key",
    ],
  ])("%s: %s", async (name, message, says) => {
    const [catalog, proxy] = await responding(() => jsonResponse(name, message));
    await using _ = proxy;

    const refreshing = catalog.refresh("uk");

    await expect(refreshing).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringContaining(says),
      fields: { aws_error: name },
    });
    await expect(refreshing).rejects.toThrow(message);
  });

  it("names the permission also where one partition of a batch is refused", async () => {
    const ErrorDetail = { ErrorCode: "GlueEncryptionException", ErrorMessage: said("kms:GenerateDataKey") };
    const [catalog, proxy] = await responding(() =>
      respondWith({ Errors: [{ PartitionValues: ["uk"], ErrorDetail }] }),
    );
    await using _ = proxy;

    await expect(catalog.refresh("uk")).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringContaining("Give it kms:GenerateDataKey on that key"),
    });
  });
});

describe("many partitions", () => {
  it("are read page by page", async () => {
    const at = (id: string) => ({
      Values: ["uk", id],
      StorageDescriptor: { Location: `s3://bucket/snapshots/uk/${id}/` },
    });
    let pages = -1; // that of event_changes, which has none
    const [catalog, proxy] = await responding(({ action }) => {
      if (action !== "AWSGlue.GetPartitions") return respondWith({});
      pages += 1;
      if (pages === 0) return respondWith({});
      return respondWith(
        pages === 1 ? { Partitions: [at(FIRST)], NextToken: "more" } : { Partitions: [at(SECOND)] },
      );
    });
    await using _ = proxy;

    await catalog.refresh("uk");

    expect(pages).toBe(2);
    const created = proxy.asked.filter(({ action }) => action === "AWSGlue.BatchCreatePartition");
    expect(created).toHaveLength(4); // publications, sync_runs, event_changes and events, no snapshot
  });
});
