// The acceptance program against a deployment on the emulator: it passes, and it names what is wrong.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { UpdatePartitionCommand } from "@aws-sdk/client-glue";
import { IAM } from "@aws-sdk/client-iam";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { awsConfig, awsEnvironment, onEmulator } from "../aws/emulator.ts";
import { DeployedAccounts } from "../e2e/deployed-accounts.ts";
import { type EmulatedStack, emulatedStack, putAlarm } from "./emulated-stack.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const THROTTLED = "BrandEventsSync-uk-throttled";

const recordSchema = z.object({
  results: z.array(z.object({ name: z.string(), result: z.string(), saw: z.string(), remedy: z.string() })),
});

onEmulator("the acceptance", () => {
  let deployed: DeployedAccounts<"uk">;
  let stack: EmulatedStack;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "brand-events-acceptance-"));
    deployed = await DeployedAccounts.deploy({ uk: {} });
    stack = await emulatedStack(deployed.deployment);
  }, 120_000);

  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
    await deployed?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  /** Ends like the program: its exit code, and what it has printed. */
  async function acceptance(
    ...args: readonly string[]
  ): Promise<{ readonly code: unknown; readonly text: string }> {
    const env = { PATH: process.env["PATH"], ...awsEnvironment(stack.url) };
    try {
      const { stdout } = await promisify(execFile)(process.execPath, [MAIN, "--out", folder, ...args], {
        env,
      });
      return { code: 0, text: stdout };
    } catch (error) {
      const { code, stdout, stderr } = z
        .object({ code: z.unknown(), stdout: z.string(), stderr: z.string() })
        .parse(error);
      return { code, text: stdout + stderr };
    }
  }

  async function results() {
    const [name = ""] = (await readdir(folder)).filter((file) => file.endsWith(".json"));
    const record = recordSchema.parse(JSON.parse(await readFile(join(folder, name), "utf8")));
    await rm(join(folder, name));
    return record.results;
  }

  test("passes, and says what an emulator cannot show", async () => {
    const { code, text } = await acceptance();

    expect(text).toContain("0 failed");
    expect(code).toBe(0);
    const rows = await results();
    const skipped = rows.filter(({ result }) => result === "skipped");
    expect(rows.filter(({ result }) => result === "passed").map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "check",
        "dry run",
        "run",
        "hold and accept",
        "tables",
        "analysts",
        "alarms",
        "alarm rings",
        "event on the bus",
      ]),
    );
    expect(skipped.map(({ name }) => name)).toEqual([
      "second start",
      "queries",
      "no overwriting",
      "schedule",
      "analysts, by IAM",
    ]);
    for (const { saw } of skipped) expect(saw).toContain("the emulator cannot show it: ");
    expect((await readdir(folder)).filter((file) => file.startsWith("changes-of"))).toEqual([]);
  });

  test("names a missing permission, a wrong partition and an alarm without action, each with its remedy", async () => {
    const { template, clients, database } = deployed.deployment;
    const policy = template.one("AWS::IAM::ManagedPolicy");
    const document = z
      .object({ Statement: z.array(z.looseObject({ Sid: z.string().optional() })) })
      .parse(template.resolve(policy.properties["PolicyDocument"]));
    const Statement = document.Statement.filter(({ Sid }) => Sid !== "ReadTables");
    await new IAM(awsConfig()).createPolicyVersion({
      PolicyArn: String(template.resolve({ Ref: policy.id })),
      PolicyDocument: JSON.stringify({ Version: "2012-10-17", Statement }),
      SetAsDefault: true,
    });
    const [partition] = await deployed.reader.partitions("events", "uk");
    await clients.glue.send(
      new UpdatePartitionCommand({
        DatabaseName: database,
        TableName: "events",
        PartitionValueList: ["uk"],
        PartitionInput: {
          Values: ["uk"],
          StorageDescriptor: { ...partition?.StorageDescriptor, Location: "s3://elsewhere/snapshots/uk/" },
        },
      }),
    );
    await putAlarm(stack.cloudWatch, THROTTLED);

    const { code, text } = await acceptance("--account", "uk");

    expect(code).toBe(1);
    const rows = await results();
    const failed = new Map(
      rows.flatMap(({ name, result, saw }) => (result === "failed" ? [[name, saw]] : [])),
    );
    expect([...failed.keys()]).toEqual(["tables", "analysts", "alarms"]);
    expect(failed.get("tables")).toContain("s3://elsewhere/snapshots/uk/");
    expect(failed.get("analysts")).toContain("glue:GetTable");
    expect(failed.get("alarms")).toBe(`${THROTTLED} has no action`);
    expect(text.match(/remedy: .+/g)).toHaveLength(3);
    // The account has published by now.
    expect(rows.find(({ name }) => name === "run")?.saw).toContain("uk has published");
    expect(await deployed.store.read("publications/uk/0000000004.ndjson")).toBeUndefined();
  });

  async function head() {
    const { head } = z
      .object({ head: z.object({ snapshot_id: z.string(), pinned: z.boolean().default(false) }) })
      .parse(await deployed.invoke({ action: "status", account: "uk" }));
    return head;
  }

  test("undoes what a killed one has left", async () => {
    await deployed.invoke({ action: "rollback", account: "uk", snapshotId: (await head()).snapshot_id });
    expect((await head()).pinned).toBe(true);
    const left = [
      { kind: "alarm", name: THROTTLED, state: "ALARM" },
      { kind: "pin", functionName: "sync:live", account: "uk" },
    ];
    const journal = join(folder, "changes-of-BrandEventsSync.json");
    await writeFile(journal, JSON.stringify(left));

    const { text } = await acceptance("--restore");

    const { MetricAlarms = [] } = await stack.cloudWatch.describeAlarms({ AlarmNames: [THROTTLED] });
    expect(MetricAlarms[0]?.StateValue).toBe("ALARM");
    expect(text).toBe(
      `restored: the account uk is not pinned\nrestored: the alarm ${THROTTLED} is ALARM again\n`,
    );
    expect((await head()).pinned).toBe(false);
    await expect(readFile(journal)).rejects.toThrow("ENOENT");
  });

  test("refuses an account that the stack does not have", async () => {
    expect(await acceptance("--account", "fr")).toEqual({
      code: 2,
      text: "--account: expected one of uk, and got fr\n",
    });
  });
});
