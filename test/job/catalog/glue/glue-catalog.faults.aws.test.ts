// What the catalog in Glue does when other processes write at the same time, and when calls fail; what it says when Glue
// refuses a call, and that it reads every page.

import { describe, expect, it, onTestFinished } from "vitest";
import { GlueCatalog } from "../../../../lambdas/job/catalog/glue/glue-catalog.ts";
import { systemClock } from "../../../../lambdas/job/runtime/clock.ts";
import { type Asked, AwsProxy, type Carried, type Fault, jsonResponse } from "../../../aws/aws-proxy.ts";
import { type AwsWarehouse, awsWarehouse } from "../../../aws/aws-warehouse.ts";
import { awsClients, emulator, newAwsClients, onEmulator } from "../../../aws/emulator.ts";
import { MemoryStore } from "../../storage/memory-store.ts";
import { Publisher, snapshotOfDay } from "../publisher.ts";

const [FIRST, SECOND] = [snapshotOfDay(1), snapshotOfDay(2)];

/** It ends with the test. */
async function newProxy(target?: string): Promise<AwsProxy> {
  const proxy = await AwsProxy.start(target);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return proxy;
}

interface World extends AwsWarehouse {
  readonly proxy: AwsProxy;
  /** Another process on the same warehouse, whose calls of Glue go through the proxy. */
  readonly slow: GlueCatalog;
  /** How long it has slept, each time. */
  readonly pauses: readonly number[];
  readonly uk: Publisher;
  shown(): Promise<unknown>;
}

async function makeWorld(): Promise<World> {
  const proxy = await newProxy(emulator());
  const world = await awsWarehouse();
  const { store, database, location, reader } = world;
  const pauses: number[] = [];
  const slow = new GlueCatalog({
    client: newAwsClients(proxy.url).glue,
    store,
    database,
    location,
    clock: { sleep: async (ms) => void pauses.push(ms) },
  });
  const uk = new Publisher(store, "uk");
  await uk.day(1, ["a"]);
  return {
    ...world,
    proxy,
    slow,
    pauses,
    uk,
    shown: async () => {
      const [events] = await reader.partitions("events", "uk");
      return [events?.Parameters?.["publication"], events?.StorageDescriptor?.Location?.split("/").at(-2)];
    },
  };
}

/** The first snapshot is retired, and the third is published; Glue shows the first two. */
async function thirdDay() {
  const world = await makeWorld();
  const { uk, slow, reader } = world;
  await uk.day(2, ["b"]);
  await slow.refresh("uk");
  await uk.retire(FIRST);
  await uk.day(3, ["c"]);
  const kept = async () =>
    (await reader.partitions("event_snapshots", "uk")).map(({ Values }) => Values?.[1]);
  return { ...world, kept };
}

/** Whether the request is this action on one of the tables of events. */
const isOnEvents = (action: string, asked: Asked, { body }: Carried): boolean =>
  asked.action === `AWSGlue.${action}` && /"TableName":"event/.test(body.toString());

const on =
  (action: string, fault: Fault) =>
  (asked: Asked, carried: Carried): Fault | undefined =>
    isOnEvents(action, asked, carried) ? fault : undefined;

onEmulator("a call that fails", () => {
  it.each(["BatchCreatePartition", "UpdatePartition", "BatchDeletePartition", "GetPartitions"])(
    "in %s leaves what readers see, and the next refresh finishes",
    async (action) => {
      const { proxy, slow, shown, kept } = await thirdDay();
      proxy.fault = on(action, jsonResponse("InternalServiceException", "said no", 400));

      await expect(slow.refresh("uk")).rejects.toMatchObject({ code: "CATALOG_FAILED", isRetryable: true });
      const seen = await shown();
      proxy.fault = () => undefined;
      await slow.refresh("uk");

      expect(seen).toEqual(["0000000002", SECOND]);
      expect(await shown()).toEqual(["0000000003", snapshotOfDay(3)]);
      expect(await kept()).toEqual([SECOND, snapshotOfDay(3)]);
    },
  );

  it.each(["BatchCreatePartition", "UpdatePartition"])(
    "without a response (%s) is sent again",
    async (action) => {
      const { proxy, slow, uk, catalog, shown } = await makeWorld();
      await catalog.refresh("uk");
      await uk.day(2, ["b"]);
      let isLost = false;
      proxy.fault = (asked, carried) => {
        if (isLost || !isOnEvents(action, asked, carried)) return undefined;
        isLost = true;
        return "lose-response";
      };

      await slow.refresh("uk");

      expect(isLost).toBe(true);
      expect(await shown()).toEqual(["0000000002", SECOND]);
    },
  );

  it("for one partition of a batch is CATALOG_FAILED, and the head is not moved", async () => {
    const { proxy, slow, shown } = await makeWorld();
    const ErrorDetail = { ErrorCode: "ResourceNumberLimitExceededException", ErrorMessage: "too many" };
    const body = JSON.stringify({ Errors: [{ PartitionValues: ["uk", "0000000001"], ErrorDetail }] });
    proxy.fault = on("BatchCreatePartition", { status: 200, body });

    await expect(slow.refresh("uk")).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringMatching(/BatchCreatePartition on .*event_changes failed.*too many/),
    });
    expect(await shown()).toEqual([undefined, undefined]);
  });
});

onEmulator("what is over within seconds", () => {
  const CODES = ["OperationTimeoutException", "ConcurrentModificationException"];
  const ofCall = (code: string): Fault => jsonResponse(code);
  const ofEntry = (ErrorCode: string): Fault => {
    const Errors = [{ PartitionValues: ["uk", FIRST], ErrorDetail: { ErrorCode, ErrorMessage: "said" } }];
    return { status: 200, body: JSON.stringify({ Errors }) };
  };
  const failing = [
    { action: "GetPartitions", part: "a list", fault: ofCall },
    { action: "BatchCreatePartition", part: "a batch", fault: ofCall },
    { action: "BatchCreatePartition", part: "one partition of a batch", fault: ofEntry },
    { action: "UpdatePartition", part: "the head", fault: ofCall },
    { action: "BatchDeletePartition", part: "one partition of a deletion", fault: ofEntry },
  ].flatMap((each) => CODES.map((code) => ({ ...each, code })));

  it.each(failing)("($code of $part) is repeated after a pause", async ({ action, fault, code }) => {
    const { proxy, slow, pauses, shown, kept } = await thirdDay();
    let failures = 0;
    proxy.fault = (asked, carried) => {
      if (failures === 3 || !isOnEvents(action, asked, carried)) return undefined;
      failures += 1;
      return fault(code);
    };

    await slow.refresh("uk");

    expect(pauses).toEqual([500, 1_000, 2_000]);
    expect(await shown()).toEqual(["0000000003", snapshotOfDay(3)]);
    expect(await kept()).toEqual([SECOND, snapshotOfDay(3)]);
  });

  it.each(CODES)("(%s) and lasts longer is CATALOG_FAILED and says to start again later", async (code) => {
    const { proxy, slow, pauses } = await makeWorld();
    proxy.fault = on("BatchCreatePartition", ofEntry(code));

    await expect(slow.refresh("uk")).rejects.toMatchObject({
      code: "CATALOG_FAILED",
      message: expect.stringMatching(new RegExp(`too busy\\. Start again later.*\\(${code}\\)`)),
      fields: { action: "BatchCreatePartition", aws_error: code },
    });
    expect(pauses).toEqual([500, 1_000, 2_000]);
  });
});

onEmulator("a retired snapshot", () => {
  it.each([
    {
      ErrorCode: "EntityNotFoundException",
      what: "whose partition another process has deleted is no error",
      fails: false,
    },
    {
      ErrorCode: "InternalServiceException",
      what: "whose partition cannot be deleted is CATALOG_FAILED",
      fails: true,
    },
  ])("$what", async ({ ErrorCode, fails }) => {
    const { proxy, slow } = await thirdDay();
    const Errors = [{ PartitionValues: ["uk", FIRST], ErrorDetail: { ErrorCode, ErrorMessage: "said" } }];
    proxy.fault = on("BatchDeletePartition", { status: 200, body: JSON.stringify({ Errors }) });

    const outcome = await slow.refresh("uk").then(
      () => undefined,
      (error: unknown) => error,
    );

    expect(outcome).toEqual(fails ? expect.objectContaining({ code: "CATALOG_FAILED" }) : undefined);
  });
});

onEmulator("a database that does not exist", () => {
  it("is CATALOG_FAILED and says to deploy the stack, also before anything is published", async () => {
    const { store, location } = await awsWarehouse();
    const client = awsClients().glue;
    const database = "no_such";
    const catalog = new GlueCatalog({ client, store, database, location, clock: systemClock });

    for (const call of [() => catalog.refresh("uk"), () => catalog.columns()]) {
      await expect(call()).rejects.toMatchObject({
        code: "CATALOG_FAILED",
        message: expect.stringMatching(
          /GetTable on no_such\.(events|publications) failed: the database no_such or its table (events|publications) does not exist\. Deploy the stack/,
        ),
      });
    }
  });
});

/** A catalog that gets these responses from Glue, over a log with two publications. */
async function responding(fault: (asked: Asked) => Fault): Promise<[GlueCatalog, AwsProxy]> {
  const proxy = await newProxy();
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
    ["GetPartition", "events"],
    ["BatchCreatePartition", "publications"],
    ["GetPartitions", "event_changes"],
    ["BatchDeletePartition", "event_changes"],
  ])("of %s is CATALOG_FAILED and names the permission", async (action, table) => {
    const Partitions = [{ Values: ["uk", "2025-01-01T00-00-00.000Z"] }];
    const [catalog] = await responding((asked) =>
      asked.action === `AWSGlue.${action}`
        ? jsonResponse("AccessDeniedException", "User x is not authorized")
        : respondWith({ Partitions }),
    );

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
    const [catalog] = await responding(() => jsonResponse(name, message));

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
    const [catalog] = await responding(() =>
      respondWith({ Errors: [{ PartitionValues: ["uk"], ErrorDetail }] }),
    );

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

    await catalog.refresh("uk");

    expect(pages).toBe(2);
    const created = proxy.asked.filter(({ action }) => action === "AWSGlue.BatchCreatePartition");
    expect(created).toHaveLength(4); // publications, sync_runs, event_changes and events, no snapshot
  });
});
