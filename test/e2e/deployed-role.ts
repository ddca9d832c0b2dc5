// Checks calls of tests with their own warehouse against the role of the deployed function.

import type { AwsCall } from "./aws-call.ts";
import { isAllowed } from "./policy.ts";
import { functionStatements, makeNames } from "./role-statements.ts";
import { synthTemplate } from "./synth.ts";

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
