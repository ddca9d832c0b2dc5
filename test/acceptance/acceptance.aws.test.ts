// The acceptance program against a deployment on the emulator: it passes, and it names what is wrong.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { awsEnvironment, onEmulator } from "../aws/emulator.ts";
import { DeployedAccounts } from "../e2e/deployed-accounts.ts";
import { ROWS } from "./acceptance.ts";
import { KIND_OF, KINDS, read } from "./as-stated.ts";
import { additionsTo, type Change, changesOf, swapsIn } from "./changes.ts";
import { readDeployment, type Stated } from "./deployment.ts";
import { compare, type FilledIn } from "./differences.ts";
import { type EmulatedStack, emulatedStack } from "./emulated-stack.ts";
import { Journal } from "./journal.ts";
import { DEFECTS } from "./planted-defects.ts";
import type { At } from "./row.ts";

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
    deployed = await DeployedAccounts.deploy({ uk: {} }, { alarmEmail: "team@example.com" });
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

  test("passes, and says what an emulator cannot show; the alarm stale of a new account is no failure", async () => {
    const stale = { AlarmName: "BrandEventsSync-uk-stale", StateValue: "ALARM" } as const;
    await stack.clients.cloudWatch.setAlarmState({ ...stale, StateReason: "It has not published yet." });

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
        "hand-over",
        ...Object.keys(KINDS),
        "not compared",
        "nothing else",
        "rights",
        "partitions",
        "analysts",
        "subscriptions",
        "alarm rings",
        "event on the bus",
      ]),
    );
    expect(skipped.map(({ name }) => name)).toEqual([
      "second start",
      "queries",
      "no overwriting",
      "schedule",
      "drift",
      "analysts, by IAM",
    ]);
    for (const { saw } of skipped) expect(saw).toContain("the emulator cannot show it: ");
    expect((await readdir(folder)).filter((file) => file.startsWith("changes-of"))).toEqual([]);
  }, 180_000);

  describe("of each resource", () => {
    interface Known extends Stated {
      readonly found: object;
      readonly assumed: readonly string[];
      readonly filledIn: FilledIn;
    }
    let all: readonly Known[];

    beforeAll(async () => {
      const whole = await readDeployment(stack.clients, "Stack");
      const known = whole.types.flatMap(whole.stated).map(async (one): Promise<readonly Known[]> => {
        const kind = KIND_OF.get(one.type);
        if (kind === undefined) return [];
        const { found = {}, assumed } = await read(whole, kind, one);
        return [{ ...one, found, assumed, filledIn: kind.filledIn ?? {} }];
      });
      all = (await Promise.all(known)).flat();
    });

    test("nothing differs as it is", () => {
      const wrong = all.map(
        ({ properties, found, filledIn }) => compare(properties, found, filledIn).differences,
      );
      expect(wrong.flat()).toEqual([]);
    });

    test("each property is compared, but these, by which it is found, or which no call returns", () => {
      const names = all.flatMap(({ type, assumed }) => assumed.map((property) => `${type} ${property}`));
      expect([...new Set(names)].toSorted()).toEqual([
        "AWS::Athena::WorkGroup RecursiveDeleteOption",
        "AWS::Glue::Table DatabaseName",
        "AWS::IAM::Policy PolicyName",
        "AWS::IAM::Policy Roles",
        "AWS::Lambda::Alias FunctionName",
        "AWS::Lambda::Alias Name",
        "AWS::Lambda::EventInvokeConfig FunctionName",
        "AWS::Lambda::EventInvokeConfig Qualifier",
        "AWS::Lambda::Function Code",
        "AWS::Lambda::Permission FunctionName",
        "AWS::Lambda::Permission SourceArn",
        "AWS::Lambda::Version FunctionName",
        "AWS::Logs::MetricFilter LogGroupName",
        "AWS::S3::BucketPolicy Bucket",
        "AWS::SNS::Subscription Endpoint",
        "AWS::SNS::Subscription TopicArn",
        "AWS::SNS::TopicPolicy Topics",
        "AWS::SQS::QueuePolicy Queues",
        "AWS::Scheduler::Schedule GroupName",
        "AWS::Scheduler::ScheduleGroup Name",
      ]);
    });

    /** The changes that are not seen. Each place of a type is changed once, though many resources may have it. */
    function unseen(
      changesIn: (value: unknown) => Iterable<Change>,
      side: "properties" | "found",
    ): readonly string[] {
      const tried = new Set<string>();
      return all.flatMap((one) =>
        [...changesIn(one[side])].flatMap(({ path, to, changed }) => {
          const place = `${one.type} ${path.replaceAll(/\.\d+/g, "")}`;
          const change = `${place} ${to === undefined ? "left out" : ""}`;
          if (tried.has(change) || one.assumed.includes(path.split(".")[0] ?? "")) return [];
          tried.add(change);
          const stated = side === "properties" ? changed : one.properties;
          const found = side === "found" ? changed : one.found;
          return compare(stated, found, one.filledIn).differences.length > 0 ? [] : [place];
        }),
      );
    }

    test("each other value in the template is seen, but where it leaves out what AWS fills in", () => {
      expect(unseen(changesOf, "properties")).toEqual(["AWS::CloudWatch::Alarm Metrics.ReturnData"]);
    });

    test("whatever there is besides is seen", () => {
      expect(unseen(additionsTo, "found")).toEqual([]);
    });

    test("lists in another order are seen, but for those whose order says nothing", () => {
      expect(unseen(swapsIn, "found")).toEqual([
        "AWS::S3::Bucket LifecycleConfiguration.Rules",
        "AWS::CloudWatch::Alarm Metrics",
      ]);
    });
  });

  describe("a defect", () => {
    const CLOSED = /^$/;
    let at: At;

    beforeAll(async () => {
      const journal = new Journal(join(folder, "journal.json"), stack.clients);
      const ask = async () => undefined;
      at = { deployed: await readDeployment(stack.clients, "Stack"), account: "uk", journal, ask };
    });

    /** Why the row fails; empty where it passes. */
    const failure = (name: string): Promise<string> =>
      (ROWS.find((row) => row.name === name)?.see(at) ?? Promise.reject(new Error(`no row ${name}`))).then(
        () => "",
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );

    test.each(ROWS.filter(({ name }) => DEFECTS.some(({ row }) => row === name)))(
      "is none of $name before it is planted",
      async ({ name }) => {
        expect(await failure(name)).toMatch(CLOSED);
      },
    );

    test.each(DEFECTS)("is found by $row: $what", async ({ row, says, plant }) => {
      await plant({ deployed, stack });

      expect(await failure(row)).toMatch(says);
    });

    test("is named with its remedy, together with a wrong partition, on an account that has published", async () => {
      const [partition] = await deployed.reader.partitions("events", "uk");
      await stack.clients.glue.updatePartition({
        DatabaseName: deployed.deployment.database,
        TableName: "events",
        PartitionValueList: ["uk"],
        PartitionInput: {
          Values: ["uk"],
          StorageDescriptor: { ...partition?.StorageDescriptor, Location: "s3://elsewhere/snapshots/uk/" },
        },
      });

      const { code, text } = await acceptance("--account", "uk");

      expect(code).toBe(1);
      const rows = await results();
      const failed = rows.filter(({ result }) => result === "failed");
      const expected = new Set(["partitions", ...DEFECTS.map(({ row }) => row)]);
      expect(new Set(failed.map(({ name }) => name))).toEqual(expected);
      expect(failed.find(({ name }) => name === "partitions")?.saw).toContain("s3://elsewhere/snapshots/uk/");
      expect(text.match(/remedy: .+/g)).toHaveLength(expected.size);
      expect(rows.find(({ name }) => name === "run")?.saw).toContain("uk has published");
      expect(await deployed.store.read("publications/uk/0000000004.ndjson")).toBeUndefined();
    });
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
    const { stateMachine } = deployed.deployment;
    const never = () => new Promise<never>(() => undefined);
    stateMachine.function = { invoke: never, deliver: async () => [] };
    const execution = await stack.clients.stepFunctions.startExecution({
      stateMachineArn: stateMachine.engine.stateMachineArn,
      name: "uk-20261121T060000000Z-9",
      input: '{"account":"uk","runId":"2026-11-21T06-00-00.000Z","turn":0}',
    });
    const left = [
      { kind: "execution", arn: execution.executionArn },
      { kind: "alarm", name: THROTTLED, state: "ALARM" },
      { kind: "pin", functionName: "sync:live", account: "uk" },
    ];
    const journal = join(folder, "changes-of-BrandEventsSync.json");
    await writeFile(journal, JSON.stringify(left));

    const { text } = await acceptance("--restore");

    const { MetricAlarms = [] } = await stack.clients.cloudWatch.describeAlarms({ AlarmNames: [THROTTLED] });
    expect(MetricAlarms[0]?.StateValue).toBe("ALARM");
    expect(text.split("\n")).toEqual([
      "restored: the account uk is not pinned",
      `restored: the alarm ${THROTTLED} is ALARM again`,
      "restored: the execution uk-20261121T060000000Z-9 does not run",
      "",
    ]);
    expect(stateMachine.engine.describe(execution.executionArn ?? "").status).toBe("ABORTED");
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
