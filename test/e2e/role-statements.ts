// The permissions in the synthesized template: the statements of the function's role, of the policy for analysts, and
// of the bucket's policy.

import { z } from "zod";
import { ACCOUNT_ID, REGION } from "./aws-call.ts";
import { parseStatements, type Statement } from "./policy.ts";
import type { Template } from "./template.ts";

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
