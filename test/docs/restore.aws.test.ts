// What the documents teach about writing into the bucket by hand: the bucket's policy lets it through, and it works.

import { readdirSync, readFileSync } from "node:fs";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import { awsClients, freshBucket, onEmulator } from "../aws/emulator.ts";

const ROOT = new URL("../../", import.meta.url);
const DOCUMENTS = ["README.md", ...readdirSync(new URL("docs", ROOT)).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md"),
);
const commands = DOCUMENTS.flatMap((name) => readFileSync(new URL(name, ROOT), "utf8").split("\n")).filter(
  (line) => /^aws (s3|s3api) /.test(line),
);

describe("the documented commands", () => {
  it("put an object only where there is none", () => {
    const puts = commands.filter((line) => line.includes("s3api put-object"));

    expect(puts.length).toBeGreaterThan(0);
    for (const line of puts) expect(line).toContain("--if-none-match '*'");
  });

  it("copy nothing into the bucket: its policy refuses every copy", () => {
    const copies = commands.filter((line) =>
      /copy-object|aws s3 (cp|mv|sync) .*\s(\$\(output|s3:)\S*$/.test(line),
    );

    expect(copies).toEqual([]);
  });
});

onEmulator("a file that was overwritten", () => {
  it("comes back as the runbook says: deleted, then put on the condition that there is none", async () => {
    const { s3 } = awsClients();
    const Bucket = await freshBucket(s3);
    const at = { Bucket, Key: "publications/uk/0000000007.ndjson" };
    await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
    const { VersionId } = await s3.send(new PutObjectCommand({ ...at, Body: "good" }));
    await s3.send(new PutObjectCommand({ ...at, Body: "damaged" }));
    const restored = await s3.send(new GetObjectCommand({ ...at, VersionId }));
    const put = new PutObjectCommand({
      ...at,
      Body: (await restored.Body?.transformToByteArray()) ?? "",
      IfNoneMatch: "*",
    });

    const beforeDeleting = await s3.send(put).catch((error: unknown) => error);
    await s3.send(new DeleteObjectCommand(at));
    await s3.send(put);

    expect(beforeDeleting).toMatchObject({ name: "PreconditionFailed" });
    const { Body } = await s3.send(new GetObjectCommand(at));
    expect(await Body?.transformToString()).toBe("good");
  });
});
