// The secrets: one per account for credentials, and one for tokens where there is an identity provider. They are created
// empty, and retained; the function may write those for tokens alone.

import { describe, expect, it } from "vitest";
import { type Resource, type Synthesized, statements, synthesized } from "../synthesized.ts";

const account = { schedule: "rate(1 day)" };
const UUID = '{"Fn::Select":[2,{"Fn::Split":["/","<AWS::StackId>"]}]}';
const Tags = [{ Key: "brand-events-sync", Value: "Stack" }];

const secretsOf = (template: Synthesized, kind: "Credentials" | "Tokens"): readonly Resource[] =>
  template
    .all("AWS::SecretsManager::Secret")
    .filter(({ properties }) => String(properties["Description"]).startsWith(kind));

const writeStatements = (template: Synthesized) =>
  template
    .all("AWS::IAM::Policy")
    .flatMap((policy) => statements(policy))
    .filter(({ Action }) => [Action].flat().some((action) => /secretsmanager:(?!Get|Describe)/.test(action)));

const outputsOf = ({ outputs }: Synthesized, prefix: string) =>
  [...outputs].filter(([name]) => name.startsWith(prefix));

const none = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, "a-b": account, ab: account, a_b: account },
});
const one = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: { ...account, authUrl: "https://login.example.com/sso/" }, "us-tokens": account },
});
const all = synthesized({
  baseUrl: "https://api.example.com",
  authUrl: "https://login.example.com",
  accounts: { uk: account, us: { ...account, authUrl: "https://us.example.com/it's" } },
});

describe("every secret", () => {
  it("is retained when the stack is destroyed or would replace it, and deleted when its creation is rolled back", () => {
    for (const { deletionPolicy, updateReplacePolicy } of all.all("AWS::SecretsManager::Secret")) {
      expect([deletionPolicy, updateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
    }
  });

  it("is read by the function at run time, never by CloudFormation", () => {
    expect(all.text).not.toContain("{{resolve:");
    expect(all.text).not.toMatch(/SecretString|"Password"|"password"\s*:/);
  });
});

describe("the secrets for credentials", () => {
  const secrets = secretsOf(none, "Credentials");

  it("are one for each account, even if the names are similar: empty, with the stack's UUID in their names, so that no earlier deployment has used them", () => {
    expect(secrets.map(({ properties }) => properties)).toEqual(
      ["uk", "a-b", "ab", "a_b"].map((name) => ({
        Name: `Stack/${name}-${UUID}`,
        Description: `Credentials of the account ${name} at the Brand Metrics Service, as JSON`,
        Tags,
      })),
    );
  });

  it("are filled by commands, one output for each", () => {
    expect(outputsOf(none, "Step1FillSecret")).toEqual(
      ["uk", "aDashb", "ab", "aUnderscoreb"].map((name, index) => [
        `Step1FillSecret${name}`,
        `aws secretsmanager put-secret-value --region <AWS::Region> --secret-id <${secrets[index]?.name}> --secret-string file://credentials.json`,
      ]),
    );
  });
});

describe("the secrets for tokens", () => {
  it("are one for each account that has an identity provider", () => {
    expect(secretsOf(one, "Tokens").map(({ properties }) => properties)).toEqual([
      {
        Name: `Stack/tokens/uk-${UUID}`,
        Description:
          "Tokens of the account uk at the identity provider, stored by the command authorize and by runs",
        Tags,
      },
    ]);
    expect(secretsOf(all, "Tokens")).toHaveLength(2);
  });

  it("are not made without an identity provider, and nothing may then write a secret", () => {
    expect(secretsOf(none, "Tokens")).toEqual([]);
    expect(writeStatements(none)).toEqual([]);
    expect(none.text).not.toContain("TOKENS_SECRET_NAME");
  });

  it("are the only ones that the function may write, whatever an account is called", () => {
    expect(writeStatements(one)).toEqual([
      {
        Effect: "Allow",
        Action: ["secretsmanager:PutSecretValue", "secretsmanager:UpdateSecretVersionStage"],
        Resource: [
          `arn:<AWS::Partition>:secretsmanager:<AWS::Region>:<AWS::AccountId>:secret:Stack/tokens/*-${UUID}*`,
        ],
      },
    ]);
    for (const { properties } of secretsOf(one, "Credentials"))
      expect(properties["Name"]).not.toMatch(/^Stack\/tokens\//);
  });

  it("are filled by commands, one output for each, after the credentials", () => {
    const ids = all.all("AWS::SecretsManager::Secret").map(({ name }) => `secretsmanager:<${name}>`);
    const command = (url: string, index: number): string =>
      `AWS_REGION=<AWS::Region> npm run sync -- authorize --auth-url '${url}' --credentials ${ids[index]} --tokens ${ids[index + 2]}`;

    expect(outputsOf(all, "Step1ThenAuthorize")).toEqual([
      ["Step1ThenAuthorizeuk", command("https://login.example.com/", 0)],
      ["Step1ThenAuthorizeus", command("https://us.example.com/it%27s", 1)],
    ]);
    expect(outputsOf(one, "Step1ThenAuthorize").map(([name]) => name)).toEqual(["Step1ThenAuthorizeuk"]);
  });
});
