// Refused logins of the deployed function, on an emulator of AWS.

import { afterAll, beforeAll, expect, test } from "vitest";
import { onEmulator } from "../aws/emulator.ts";
import { DeployedAccounts } from "./deployed-accounts.ts";
import { metricLines } from "./payload.ts";

/** Each test works on an account of its own. */
const ACCOUNTS = { refused: {}, later: {}, changed: {}, silent: {} };

onEmulator("the deployed function with a refused login", () => {
  let deployed: DeployedAccounts<keyof typeof ACCOUNTS>;

  beforeAll(async () => {
    deployed = await DeployedAccounts.deploy(ACCOUNTS);
  }, 120_000);

  afterAll(() => deployed?.[Symbol.asyncDispose]());

  test("a refused login is sent once, and raises one alarm: Lambda's retry is skipped", async () => {
    const account = "refused";

    const results = await deployed.refuseLogin(account);

    expect(results.map((result) => (result.ok ? "ok" : result.errorType))).toEqual(["LOGIN_REFUSED", "ok"]);
    const [failed] = results;
    const message = failed?.ok === false ? failed.errorMessage : "";
    expect(message).toContain("wrong password or unknown e-mail address");
    expect(message).toContain("(account refused, run 2026-01-01T06-00-00.000Z)");
    expect(deployed.service(account).counts).toMatchObject({ requests: 1, logins: 1 });
    expect(await deployed.rows("sync_runs", account)).toHaveLength(1);
    expect(deployed.busEvents(account)[1]).toMatchObject({
      DetailType: "Run Failed",
      detail: { error_code: "LOGIN_REFUSED", finished: true },
    });
    const metrics = metricLines(deployed.deployment.function.lines, account);
    expect(metrics.map(({ values }) => [values["LoginRefused"], values["Failed"]])).toEqual([[1, undefined]]);
  });

  test("a login that was refused is not sent by the next start of the schedule", async () => {
    const account = "later";
    await deployed.refuseLogin(account);

    const next = await deployed.run(account, Date.UTC(2026, 0, 1, 7));

    expect(next).toMatchObject({ outcome: "SKIPPED", reason: "LOGIN_REFUSED" });
    expect(deployed.service(account).counts).toMatchObject({ requests: 1, logins: 1 });
    expect(
      (await deployed.rows("sync_runs", account)).map(({ outcome, reason }) => [outcome, reason]),
    ).toEqual([
      ["FAILED", null],
      ["SKIPPED", "LOGIN_REFUSED"],
    ]);
    const metrics = metricLines(deployed.deployment.function.lines, account);
    expect(metrics.map(({ values }) => values["LoginRefused"])).toEqual([1, undefined]);
  });

  test("a changed secret needs no new deployment", async () => {
    const account = "changed";
    await deployed.refuseLogin(account);

    await deployed.fillSecret(account);

    expect(await deployed.run(account, Date.UTC(2026, 0, 2, 6))).toMatchObject({ outcome: "PUBLISHED" });
  });

  test("no secret and no e-mail address is in any log line or event", async () => {
    const account = "silent";
    await deployed.refuseLogin(account);
    await deployed.fillSecret(account);
    await deployed.run(account, Date.UTC(2026, 0, 2, 6));

    const { email, password } = deployed.service(account).credentials;
    const said = [
      ...deployed.deployment.function.lines,
      JSON.stringify(deployed.deployment.recorder.events),
    ].join("\n");

    for (const secret of [email, password, "wrong-password"]) expect(said).not.toContain(secret);
  });
});
