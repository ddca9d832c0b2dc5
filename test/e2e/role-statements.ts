// The permissions in the synthesized template: the statements of the function's role, of the policy for analysts, and
// of the bucket's policy.

import { z } from "zod";
import { ACCOUNT_ID, type AwsCall, REGION } from "./aws-call.ts";
import { isAllowed, parseStatements, type Statement } from "./policy.ts";
import { synthTemplate, type Template } from "./template.ts";

const functionSchema = z.object({
  Role: z.object({ "Fn::GetAtt": z.tuple([z.string(), z.literal("Arn")]) }),
});
const rolesSchema = z.array(z.object({ Ref: z.string() }));
const documentSchema = z.object({ Statement: z.array(z.unknown()) });

/** Makes what policies name and no call touches: roles, logs, queues. */
export function makeNames(template: Template): void {
  const arns = {
    "AWS::IAM::Role": (id: string) => `arn:aws:iam::${ACCOUNT_ID}:role/${id}`,
    "AWS::Logs::LogGroup": (id: string) => `arn:aws:logs:${REGION}:${ACCOUNT_ID}:log-group:${id}:*`,
    "AWS::SQS::Queue": (id: string) => `arn:aws:sqs:${REGION}:${ACCOUNT_ID}:${id}`,
  } as const;
  for (const [type, arnOf] of Object.entries(arns)) {
    for (const { id } of template.all(type)) {
      template.made(id, { ref: id, attributes: { Arn: arnOf(id) } });
    }
  }
}

/** Everything that the policies refer to must have been made. Throws for a role with other kinds of policies. */
export function functionStatements(template: Template): readonly Statement[] {
  return [...roleStatements(template), ...bucketStatements(template)];
}

/** The bucket must have been made. */
export function analystStatements(template: Template): readonly Statement[] {
  return [
    ...statementsOf(template, template.one("AWS::IAM::ManagedPolicy").properties["PolicyDocument"]),
    ...bucketStatements(template),
  ];
}

function bucketStatements(template: Template): readonly Statement[] {
  return statementsOf(template, template.one("AWS::S3::BucketPolicy").properties["PolicyDocument"]);
}

function roleStatements(template: Template): readonly Statement[] {
  const { Role } = functionSchema.parse(template.one("AWS::Lambda::Function").properties);
  const [roleId] = Role["Fn::GetAtt"];
  const role = template.all("AWS::IAM::Role").find(({ id }) => id === roleId);
  if (role === undefined || "Policies" in role.properties || "ManagedPolicyArns" in role.properties) {
    throw new Error("the function's role has policies that are not looked at here");
  }
  return template
    .all("AWS::IAM::Policy")
    .filter(({ properties }) => rolesSchema.parse(properties["Roles"]).some(({ Ref }) => Ref === roleId))
    .flatMap(({ properties }) => statementsOf(template, properties["PolicyDocument"]));
}

function statementsOf(template: Template, policyDocument: unknown): readonly Statement[] {
  return parseStatements(documentSchema.parse(template.resolve(policyDocument)).Statement);
}

const BUCKET = "warehouse";
const DATABASE = "brand_events";
const SETTINGS = { baseUrl: "https://service.example", accounts: { uk: { schedule: "rate(1 day)" } } };

/** The warehouse of a test. */
export interface OwnWarehouse {
  /** Names of its buckets and databases. */
  readonly bucket: RegExp;
  readonly database: RegExp;
  /** What its keys begin with. */
  readonly prefix: string;
}

/** The calls that the role would not allow if they went to the deployed warehouse. */
export async function callsBeyondTheRole(
  calls: readonly AwsCall[],
  own: OwnWarehouse,
): Promise<readonly AwsCall[]> {
  const template = await synthTemplate(SETTINGS);
  makeNames(template);
  const bucket = template.one("AWS::S3::Bucket").id;
  template.made(bucket, { ref: BUCKET, attributes: { Arn: `arn:aws:s3:::${BUCKET}` } });
  template.made(template.one("AWS::Glue::Database").id, { ref: DATABASE });
  const statements = functionStatements(template);
  return calls.map((call) => moved(call, own)).filter((call) => !isAllowed(statements, call));
}

function moved({ resources, conditions, ...call }: AwsCall, own: OwnWarehouse): AwsCall {
  const key = conditions["s3:prefix"];
  return {
    ...call,
    resources: resources.map((resource) =>
      resource.replace(own.bucket, BUCKET).replace(`/${own.prefix}`, "/").replace(own.database, DATABASE),
    ),
    conditions: key === undefined ? conditions : { ...conditions, "s3:prefix": key.replace(own.prefix, "") },
  };
}
