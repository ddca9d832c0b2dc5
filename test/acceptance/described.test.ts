// What AWS may say of resources, where the emulator does not: values that it fills in, and what only some apps bring.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AwsProxy, queryResponse } from "../aws/aws-proxy.ts";
import { KIND_OF, read } from "./as-stated.ts";
import { newClients } from "./deployment.ts";
import { compare } from "./differences.ts";

const FILLED_IN = [...KIND_OF.values()].flatMap(({ type, filledIn = {} }) =>
  Object.entries(filledIn).flatMap(([path, values]) => values.map((value) => ({ type, path, value }))),
);

/** An object with the value at a path. */
const at = (path: string, value: unknown): object =>
  path
    .split(".")
    .toReversed()
    .reduce<object>((inner, key, n) => ({ [key]: n === 0 ? value : inner }), {});

describe("what AWS fills in", () => {
  test.each(FILLED_IN)("is no difference: $type $path $value", ({ type, path, value }) => {
    const { filledIn } = KIND_OF.get(type) ?? {};

    expect(compare({}, at(path, value), filledIn).differences).toEqual([]);
    expect(compare({}, at(path, "another"), filledIn).differences).toHaveLength(1);
    expect(compare(at(path, "another"), at(path, value), filledIn).differences).toHaveLength(1);
  });
});

describe("what some apps bring", () => {
  let proxy: AwsProxy;
  let clients: ReturnType<typeof newClients>;
  let answers: Readonly<Record<string, object>> = {};

  beforeAll(async () => {
    proxy = await AwsProxy.start();
    proxy.fault = ({ url, action = "" }, { body }) => {
      const query = new URLSearchParams(body.toString()).get("Action");
      if (query !== null) return queryResponse(query, answers[query] ?? {});
      const key = Object.keys(answers).find((each) => `${url} ${action}`.includes(each)) ?? "";
      const headers = { "content-type": "application/json" };
      return { status: 200, body: JSON.stringify(answers[key] ?? {}), headers };
    };
    const credentials = { accessKeyId: "test", secretAccessKey: "test" };
    clients = newClients({}, { endpoint: proxy.url, region: "eu-west-1", credentials });
  });

  afterAll(() => proxy[Symbol.asyncDispose]());

  const FOUND_VPC = {
    SubnetIds: ["s-1"],
    SecurityGroupIds: ["g-1"],
    VpcId: "v",
    Ipv6AllowedForDualStack: false,
  };
  const BOUNDARY = { PermissionsBoundaryType: "Policy", PermissionsBoundaryArn: "arn:boundary" };

  test.each([
    {
      type: "AWS::Lambda::Function",
      properties: {
        VpcConfig: { SubnetIds: ["s-1"], SecurityGroupIds: ["g-1"] },
        ReservedConcurrentExecutions: 5,
      },
      described: {
        "/configuration": { VpcConfig: FOUND_VPC },
        "/concurrency": { ReservedConcurrentExecutions: 5 },
      },
      others: { "/configuration": { VpcConfig: { ...FOUND_VPC, SubnetIds: ["s-2"] } } },
      says: [
        "VpcConfig.SubnetIds: expected s-1, found s-2",
        "ReservedConcurrentExecutions: expected 5, found nothing",
      ],
    },
    {
      type: "AWS::SecretsManager::Secret",
      properties: { Name: "x", KmsKeyId: "arn:key" },
      described: { ".DescribeSecret": { Name: "x", KmsKeyId: "arn:key", RotationEnabled: false } },
      others: {
        ".DescribeSecret": { Name: "x", DeletedDate: 0 },
        ".GetResourcePolicy": { ResourcePolicy: "{}" },
      },
      says: [
        "KmsKeyId: expected arn:key, found nothing",
        "DeletedDate: expected nothing, found 1970-01-01T00:00:00.000Z",
        "ResourcePolicy: expected nothing, found {}",
      ],
    },
    {
      type: "AWS::IAM::Role",
      properties: { PermissionsBoundary: "arn:boundary" },
      described: { GetRole: { Role: { RoleName: "r", Path: "/", PermissionsBoundary: BOUNDARY } } },
      others: { GetRole: { Role: { RoleName: "r", Path: "/" } } },
      says: ["PermissionsBoundary: expected arn:boundary, found nothing"],
    },
    {
      type: "AWS::Athena::WorkGroup",
      properties: {
        Name: "w",
        WorkGroupConfiguration: { ResultConfiguration: { OutputLocation: "s3://b/" } },
      },
      described: {
        ".GetWorkGroup": {
          WorkGroup: {
            Name: "w",
            State: "ENABLED",
            Configuration: {
              ResultConfiguration: { OutputLocation: "s3://b/" },
              RequesterPaysEnabled: false,
              EngineVersion: { EffectiveEngineVersion: "Athena engine version 3" },
            },
          },
        },
      },
      others: { ".GetWorkGroup": { WorkGroup: { Name: "w", State: "DISABLED", Configuration: {} } } },
      says: [
        'WorkGroupConfiguration.ResultConfiguration: expected {"OutputLocation":"s3://b/"}, found nothing',
        "State: expected nothing, found DISABLED",
      ],
    },
  ])("is compared: $type", async ({ type, properties, described, others, says }) => {
    const kind = KIND_OF.get(type);
    if (kind === undefined) throw new Error(`no row reads ${type}`);
    const deployed = { clients, stackTags: new Map(), arn: (_: string, resource: string) => resource };
    const compared = async (said: Readonly<Record<string, object>>) => {
      answers = said;
      const { found } = await read(deployed, kind, { id: "w", type, isOwn: true, properties });
      return compare(properties, found, kind.filledIn);
    };

    expect((await compared(described)).differences).toEqual([]);
    expect((await compared(others)).differences).toEqual(says);
  });
});
