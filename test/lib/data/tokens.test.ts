// The secrets for tokens: one per account with an identity provider, created empty, the only ones the function may write.

import { describe, expect, it } from "vitest";
import { statements } from "../policy-statements.ts";
import { type Synthesized, synthesized } from "../synthesized.ts";

const account = { schedule: "rate(1 day)" };
const UUID = '{"Fn::Select":[2,{"Fn::Split":["/","<AWS::StackId>"]}]}';

const tokenSecrets = (template: Synthesized) =>
  template
    .all("AWS::SecretsManager::Secret")
    .filter(({ properties }) => String(properties["Description"]).startsWith("Tokens"));

const writeStatements = (template: Synthesized) =>
  template
    .all("AWS::IAM::Policy")
    .flatMap((policy) => statements(policy))
    .filter(({ Action }) => [Action].flat().some((action) => /secretsmanager:(?!Get|Describe)/.test(action)));

const one = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: { ...account, authUrl: "https://login.example.com/sso/" }, "us-tokens": account },
});
const all = synthesized({
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  accounts: { uk: account, us: { ...account, authUrl: "https://us.example.com/it's" } },
});

describe("the secrets for tokens", () => {
  it("are one for each account that has an identity provider", () => {
    expect(tokenSecrets(one).map(({ properties }) => properties)).toEqual([
      {
        Name: `Stack/tokens/uk-${UUID}`,
        Description:
          "Tokens of the account uk at the identity provider, stored by the command authorize and by runs",
        Tags: [{ Key: "brand-events-sync", Value: "Stack" }],
      },
    ]);
    expect(tokenSecrets(all)).toHaveLength(2);
  });

  it("are not made without an identity provider, and nothing may then write a secret", () => {
    const none = synthesized({ baseUrl: "https://api.example.com", accounts: { uk: account } });

    expect(tokenSecrets(none)).toEqual([]);
    expect(writeStatements(none)).toEqual([]);
    expect(none.text).not.toContain("TOKENS_SECRET_NAME");
  });

  it("are retained when the stack is destroyed or would replace them, and keep their logical ids", () => {
    expect(tokenSecrets(one)).toMatchObject([
      { name: "Tokensuk4A61A60B", deletionPolicy: "RetainExceptOnCreate", updateReplacePolicy: "Retain" },
    ]);
  });

  it("are the only ones that the function may write, whatever an account is called", () => {
    const [statement, ...others] = writeStatements(one);

    expect(others).toEqual([]);
    expect(statement).toMatchObject({
      Effect: "Allow",
      Action: ["secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"],
      Resource: [
        `arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Stack/tokens/*-${UUID}*`,
      ],
    });
    const [uk, us] = one
      .all("AWS::SecretsManager::Secret")
      .filter((secret) => !tokenSecrets(one).includes(secret))
      .map(({ properties }) => String(properties["Name"]));
    for (const name of [uk, us]) expect(name).not.toMatch(/^Stack\/tokens\//);
  });

  it("are filled by commands, one output for each, after the credentials", () => {
    const commands = [...all.outputs].filter(([name]) => name.startsWith("Step1ThenAuthorize"));
    const ids = all.all("AWS::SecretsManager::Secret").map(({ name }) => `secretsmanager:<${name}>`);
    const command = (url: string, index: number): string =>
      `AWS_REGION=<AWS::Region> npm run sync -- authorize --auth-url '${url}' --credentials ${ids[index]} --tokens ${ids[index + 2]}`;

    expect(commands).toEqual([
      ["Step1ThenAuthorizeuk", command("https://login.example.com/", 0)],
      ["Step1ThenAuthorizeus", command("https://us.example.com/it%27s", 1)],
    ]);
    expect([...one.outputs.keys()].filter((name) => name.includes("Authorize"))).toEqual([
      "Step1ThenAuthorizeuk",
    ]);
    const steps = [...one.outputs.keys()].filter((name) => name.startsWith("Step1"));
    expect(steps.toSorted()).toEqual([
      "Step1FillSecretuk",
      "Step1FillSecretusDashtokens",
      "Step1ThenAuthorizeuk",
    ]);
  });
});
