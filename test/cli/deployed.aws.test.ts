// The command line against a deployed warehouse: S3, Glue and Secrets Manager on an emulator.

import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { CreateSecretCommand } from "@aws-sdk/client-secrets-manager";
import { expect, test } from "vitest";
import { readManifest } from "../../lambdas/job/snapshot/files/manifest.ts";
import { accountStore } from "../../lambdas/job/storage/store.ts";
import { awsWarehouse } from "../aws/aws-warehouse.ts";
import { awsClients, awsEnvironment, onEmulator } from "../aws/emulator.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { against, laptop, lastJson, syncProcess } from "./command-line.ts";

const TABLE_NAMES = ["events", "event_snapshots", "event_changes", "publications", "sync_runs"] as const;

async function secret(text: string): Promise<string> {
  const Name = `brand-events/${randomUUID()}`;
  await awsClients().secrets.send(new CreateSecretCommand({ Name, SecretString: text }));
  return Name;
}

onEmulator("a deployed account", () => {
  test("is checked, run, held, accepted, rolled back and described from a laptop", async () => {
    const cwd = await temporaryDirectory();
    await using simulator = await Simulator.start({ events: makeEvents(12) });
    const { location, database, reader } = await awsWarehouse();
    const secretId = await secret(JSON.stringify({ method: "session", ...simulator.credentials }));
    const env = {
      ...awsEnvironment(),
      BRAND_WAREHOUSE: location,
      BRAND_DATABASE: database,
      BRAND_CREDENTIALS: `secretsmanager:${secretId}`,
    };
    const uuids = async (): Promise<number> =>
      (await reader.rows("events", "default")).get("default")?.length ?? 0;

    const check = await syncProcess(["check", ...against(simulator)], { cwd, env });
    const discover = await syncProcess(["discover", "--json", ...against(simulator)], { cwd, env });
    const run = lastJson(await syncProcess(["run", "--json", ...against(simulator)], { cwd, env }));
    const published = await uuids();
    simulator.setEvents(makeEvents(6));
    const held = lastJson(await syncProcess(["run", "--json", ...against(simulator)], { cwd, env }));
    const status = lastJson(await syncProcess(["status", "--account", "default", "--json"], { cwd, env }));
    const old = await syncProcess(["status", "--json", "--max-age", "0.00001"], { cwd, env });
    const kept = await uuids();
    const diff = lastJson(await syncProcess(["diff", "held", "--json"], { cwd, env }));
    const accept = await syncProcess(["accept", String(held["snapshot_id"])], { cwd, env });
    const accepted = await uuids();
    const rollback = await syncProcess(["rollback", String(run["snapshot_id"])], { cwd, env });
    const report = await syncProcess(["report", "--json"], { cwd, env });
    const page = await readFile(join(cwd, "report.html"), "utf8");

    expect(check.stdout).toBe(
      ["credentials", "login", "list  12 events", "detail", "store", "catalog", "snapshot"]
        .map((name) => `ok      ${name}\n`)
        .join(""),
    );
    expect(lastJson(discover)["fields"]).not.toEqual([]);
    expect(lastJson(report)).toEqual({ file: join(cwd, "report.html") });
    expect(page).toContain("<h3>12 events, as many as at the first publication</h3>");
    expect(page).toMatch(/<td>what readers see<\/td><td class="number">[\d.]+ KiB<\/td>/);
    expect(run).toMatchObject({ outcome: "PUBLISHED", events: 12 });
    expect(held).toMatchObject({ outcome: "HELD", reason: "DROPPED" });
    expect(status).toMatchObject({ head: { events: 12 }, lease: null, held: [held["snapshot_id"]] });
    expect(diff).toMatchObject({ a: held["snapshot_id"], b: run["snapshot_id"], added: 0, removed: 6 });
    expect(lastJson(old)).toEqual({ accounts: [status] });
    expect(old).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining("older than 0.00001 h: default"),
    });
    expect([accept.exitCode, rollback.exitCode]).toEqual([0, 0]);
    expect([published, kept, accepted, await uuids()]).toEqual([12, 12, 6, 12]);
  });

  test("lends a run its columns, and gives up an account", async () => {
    const { cwd, simulator } = await laptop({ events: makeEvents(3) });
    const { location, database, store, reader } = await awsWarehouse(["brand"]);
    const env = { ...awsEnvironment(), BRAND_WAREHOUSE: location, BRAND_DATABASE: database };
    const run = async (...args: readonly string[]) =>
      lastJson(await syncProcess(["run", "--json", ...args, ...against(simulator)], { cwd, env }));

    const unknown = await run("--account", "uk");
    const named = await run("--account", "uk", "--lift", "brand=/name");
    const unnamed = await run("--account", "de");

    expect(unknown).toMatchObject({ outcome: "FAILED", error_code: "CONFIG_INVALID" });
    expect(unknown["error_message"]).toMatch(/\bbrand\b/);
    expect([named, unnamed]).toMatchObject([{ outcome: "PUBLISHED" }, { outcome: "PUBLISHED" }]);
    const { lifted } = await readManifest(accountStore(store, "de"), String(unnamed["snapshot_id"]));
    expect(lifted).toEqual([{ name: "brand", pointer: "/name" }]);

    const asked = await syncProcess(["remove", "uk"], { cwd, env });
    const removed = await syncProcess(["remove", "uk", "--yes", "--json"], { cwd, env });
    const left = lastJson(await syncProcess(["status", "--json"], { cwd, env }));

    expect(asked).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining("noncurrent versions for 30 days"),
    });
    expect(removed).toMatchObject({ exitCode: 0, stdout: '{"ok":true}\n' });
    expect(left).toMatchObject({ accounts: [{ account: "de" }] });
    for (const table of TABLE_NAMES) {
      expect(await reader.partitions(table, "uk"), table).toEqual([]);
      expect(await reader.partitions(table, "de"), table).toHaveLength(1);
    }
  });

  test.each([
    {
      what: "a bucket that does not exist",
      args: ["status", "--warehouse", "s3://no-such-bucket-of-ours"],
      exitCode: 1,
      says: /STORE_FAILED: Could not list s3:\/\/no-such-bucket-of-ours\/\S+: the bucket does not exist/,
    },
    {
      what: "a secret that does not exist",
      args: ["check", "--base-url", "http://127.0.0.1:1", "--credentials", "secretsmanager:no/such"],
      exitCode: 2,
      says: /CREDENTIALS_INVALID: Could not read the secret no\/such: there is no such secret.*AWS_REGION/,
    },
  ])("with $what says what to do", async ({ args, exitCode, says }) => {
    const ended = await syncProcess(args, { cwd: await temporaryDirectory(), env: awsEnvironment() });

    expect(`${ended.stdout}${ended.stderr}`).toMatch(says);
    expect(ended.stderr).not.toMatch(/^ {4}at /m);
    expect(ended.exitCode).toBe(exitCode);
  });

  test("with a database that does not exist fails its check of the catalog only", async () => {
    const { cwd, simulator } = await laptop({ events: makeEvents(2) });
    const { location } = await awsWarehouse();
    const args = ["check", "--json", "--warehouse", location, "--database", "no_such", ...against(simulator)];

    const ended = await syncProcess(args, { cwd, env: awsEnvironment() });

    const checks = lastJson(ended)["checks"];
    expect(checks).toContainEqual({ name: "store", ok: true, code: null, remedy: null });
    expect(checks).toContainEqual({
      name: "catalog",
      ok: false,
      code: "CATALOG_FAILED",
      remedy: expect.stringContaining("database no_such"),
    });
  });
});
