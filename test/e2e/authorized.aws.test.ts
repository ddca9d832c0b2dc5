// OAuth in a deployment, on an emulator of AWS: two secrets, the command of the stack's output, the renewal by the function.

import { ListSecretVersionIdsCommand } from "@aws-sdk/client-secrets-manager";
import { afterAll, beforeAll, expect, test } from "vitest";
import { awsEnvironment, onEmulator } from "../aws/emulator.ts";
import { freeRedirectUri, startAuthorize, visit } from "../cli/authorize/around-authorize.ts";
import { printedCommand } from "../cli/command-line.ts";
import { temporaryDirectory } from "../job/storage/directory/temporary-directory.ts";
import { CANARY } from "../simulator/account.ts";
import { IdentityProvider } from "../simulator/identity/identity-provider.ts";
import { decide } from "../simulator/identity/person.ts";
import { makeEvents } from "../simulator/simulated-event.ts";
import { Simulator } from "../simulator/simulator.ts";
import { type Deployment, deploy } from "./deployment.ts";
import { payload } from "./lambda-function.ts";
import { isAllowed, unused } from "./policy.ts";

onEmulator("a deployed account with OAuth", () => {
  let provider: IdentityProvider;
  let service: Simulator;
  let deployment: Deployment;
  let redirectUri: string;

  beforeAll(async () => {
    redirectUri = await freeRedirectUri();
    provider = await IdentityProvider.start({ client: { redirectUris: [redirectUri] } });
    service = await Simulator.start({ events: makeEvents(4), bearer: provider });
    deployment = await deploy({
      baseUrl: service.url,
      authUrl: provider.url,
      accounts: {
        uk: {
          schedule: "cron(0 6 * * ? *)",
          requestsPerMinute: "unlimited",
          bytesPerMinute: "unlimited",
        },
      },
    });
  }, 120_000);

  afterAll(async () => {
    await deployment?.[Symbol.asyncDispose]();
    await service?.stop();
    await provider?.stop();
  });

  const run = (day: number): Promise<Readonly<Record<string, unknown>>> =>
    deployment.function
      .invoke({ account: "uk", scheduledAt: new Date(Date.UTC(2026, 0, day, 6)).toISOString() })
      .then(payload);

  /** Runs the command of the stack's output, and is the person at the browser. */
  async function authorize(): Promise<number | null> {
    const [command = "", ...args] = printedCommand(deployment.output("Step1ThenAuthorizeuk"), "authorize");
    expect(command).toBe("authorize");
    const { address, ended } = await startAuthorize([...args, "--redirect-uri", redirectUri], {
      cwd: await temporaryDirectory(),
      env: awsEnvironment(),
    });
    const sentTo = await decide(address, { user: provider.user, decision: "allow" });
    await visit(sentTo);
    return (await ended).exitCode;
  }

  async function versions(): Promise<number> {
    const SecretId = deployment.output("Step1ThenAuthorizeuk").split("--tokens secretsmanager:")[1];
    const listed = await deployment.clients.secrets.send(
      new ListSecretVersionIdsCommand({ SecretId, IncludeDeprecated: true }),
    );
    return listed.Versions?.length ?? 0;
  }

  test("is skipped as not set up until it is authorized, then runs, and renews its tokens itself", async () => {
    await deployment.fillSecret("uk", provider.credentials);
    const before = await run(1);

    const exitCode = await authorize();
    const first = await run(2);
    const versionsBefore = await versions();
    service.endSessions();
    const second = await run(3);
    const versionsAfter = await versions();
    service.endSessions();
    const third = await run(4);

    expect(before).toMatchObject({ outcome: "SKIPPED", reason: "NOT_SET_UP" });
    expect(exitCode).toBe(0);
    expect([first, second, third].map(({ outcome }) => outcome)).toEqual([
      "PUBLISHED",
      "PUBLISHED",
      "PUBLISHED",
    ]);
    expect(provider.counts).toMatchObject({ codeExchanges: 1, refreshes: 2, spentTokensSeen: 0 });
    // The second version holds the place of the labels, and is made once.
    expect([versionsBefore, versionsAfter, await versions()]).toEqual([1, 3, 4]);
  });

  test("fails with the command to run when the authorization was taken back, and runs again after it", async () => {
    provider.revokeAll();
    service.endSessions();

    const failed = await deployment.function.invoke({ account: "uk", scheduledAt: "2026-01-05T06:00:00Z" });
    const exitCode = await authorize();
    const next = await run(6);

    expect(failed).toMatchObject({ ok: false, errorType: "AUTHORIZATION_EXPIRED" });
    const message = failed.ok ? "" : failed.errorMessage;
    const words = printedCommand(message, "authorize");
    expect(words).toContain("--tokens");
    expect(words.some((word) => /^secretsmanager:\S+\/tokens\/uk-/.test(word))).toBe(true);
    expect([exitCode, next["outcome"]]).toEqual([0, "PUBLISHED"]);
  });

  test("uses all its rights on secrets, and no others", () => {
    const { recorder, statements } = deployment;
    const refused = recorder.calls.filter((call) => !isAllowed(statements, call));
    const onSecrets = statements.filter(({ Action }) =>
      Action.every((action) => action.startsWith("secretsmanager:")),
    );

    expect(refused).toEqual([]);
    expect(onSecrets.map(({ Sid }) => Sid)).toEqual(["ReadCredentials", "RenewTokens"]);
    expect(unused(onSecrets, recorder.calls)).toEqual([]);
  });

  test("logs no secret", () => {
    const said = [...deployment.function.lines, JSON.stringify(deployment.recorder.events)].join("\n");

    for (const secret of Object.values(CANARY)) expect(said).not.toContain(secret);
  });
});
