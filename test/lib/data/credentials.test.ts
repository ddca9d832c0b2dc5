// The secrets: one per account, created empty, retained; and no secret value in the template.

import { describe, expect, it } from "vitest";
import { synthesized } from "../synthesized.ts";

const account = { schedule: "rate(1 day)" };
const template = synthesized({
  baseUrl: "https://api.example.com",
  accounts: { uk: account, "a-b": account, ab: account, a_b: account },
});
const secrets = template.all("AWS::SecretsManager::Secret");

describe("the secrets", () => {
  it("are one for each account, even if the names are similar", () => {
    expect(secrets.map(({ properties }) => properties["Description"])).toEqual([
      "Credentials of the account uk at the Brand Metrics Service, as JSON",
      "Credentials of the account a-b at the Brand Metrics Service, as JSON",
      "Credentials of the account ab at the Brand Metrics Service, as JSON",
      "Credentials of the account a_b at the Brand Metrics Service, as JSON",
    ]);
  });

  it("are created empty, with the stack's UUID in their names, so that no earlier deployment has used them", () => {
    const uuid = '{"Fn::Select":[2,{"Fn::Split":["/","<AWS::StackId>"]}]}';

    expect(secrets.map(({ properties }) => properties["Name"])).toEqual(
      ["uk", "a-b", "ab", "a_b"].map((name) => `Stack/${name}-${uuid}`),
    );
    for (const { properties } of secrets) {
      expect(Object.keys(properties).toSorted()).toEqual(["Description", "Name", "Tags"]);
    }
  });

  it("are retained when the stack is destroyed or would replace them, and deleted when their creation is rolled back", () => {
    for (const { deletionPolicy, updateReplacePolicy } of secrets) {
      expect([deletionPolicy, updateReplacePolicy]).toEqual(["RetainExceptOnCreate", "Retain"]);
    }
  });

  it("are read by the function at run time, never by CloudFormation", () => {
    expect(template.text).not.toContain("{{resolve:");
    expect(template.text).not.toMatch(/SecretString|"Password"|"password"\s*:/);
  });

  it("are filled by commands, one output for each", () => {
    const commands = [...template.outputs].filter(([name]) => name.startsWith("Step1FillSecret"));

    expect(commands).toEqual([
      ["Step1FillSecretuk", fillCommand(0)],
      ["Step1FillSecretaDashb", fillCommand(1)],
      ["Step1FillSecretab", fillCommand(2)],
      ["Step1FillSecretaUnderscoreb", fillCommand(3)],
    ]);
  });
});

function fillCommand(index: number): string {
  return `aws secretsmanager put-secret-value --region <AWS::Region> --secret-id <${secrets[index]?.name}> --secret-string file://credentials.json`;
}
